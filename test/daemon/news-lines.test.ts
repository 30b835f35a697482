import { expect, test } from 'vitest';
import { createNewsLines } from '../../src/daemon/news/lines.ts';
import type { NewsLine } from '../../src/daemon/news/lines.ts';
import { newsOf } from '../../src/daemon/news/news.ts';
import type { DropcastEvent, Pause } from '../../src/pipeline/events.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { ignoredBy, leftFromBefore } from '../../src/pipeline/file/reasons.ts';
import { created, failure, ready, someFacts, somePlan, uploaded } from '../pipeline/some-facts.ts';

const now = new Date(2026, 10, 22, 17, 0).getTime();
const inMinutes = (minutes: number): number => now + minutes * 60_000;

const change = (before: Partial<Facts> | null, after: Partial<Facts>, note: string | null = null): DropcastEvent => ({
  type: 'file',
  before: before && someFacts(before),
  facts: someFacts(after),
  note,
});
const failed = (facts: Partial<Facts>, why = failure('transient'), next = 'tried again'): DropcastEvent => ({
  type: 'failure',
  isRepeated: false,
  facts: someFacts(facts),
  failure: why,
  next,
});
const noRule = failure('permanent', { code: 'no_rule', message: 'no rule matches' });
const held: Partial<Facts> = { end: 'held', endedAt: now, plan: null, why: noRule.message, lastFailure: noRule };
const pause: Pause = {
  kind: 'offline',
  holds: 'everything',
  why: 'no answer from video.example.com',
  code: 'ECONNREFUSED',
  since: now,
  probes: 0,
  nextProbeAt: inMinutes(2),
};
const ignored: Partial<Facts> = {
  end: 'skipped',
  why: 'ignored by anna',
  lastFailure: ignoredBy('anna', { end: null, lastFailure: null }),
};
const done: Partial<Facts> = { ...ready, end: 'done', endedAt: 5, published: { feed_news: 5 } };

test.each<[string, DropcastEvent, string | null]>([
  ['a file that came in', change(null, {}), 'info Arrived, 5 kB'],
  ['a link that came in', change(null, { sourceUrl: 'https://a.example/x.mp4' }), 'info Arrived, a link to import'],
  ['a file that came in held', change(null, held), 'warn Arrived, 5 kB, and is held: no rule matches'],
  ['a file of an archive', change(null, { ...held, lastFailure: leftFromBefore.adopt }), null],
  ['a row that stays in its state', change({}, { intent: 't' }), null],
  ['a record', change({}, created), 'info Record created: video vid_1'],
  ['the first byte', change(created, { ...created, uploadStartedAt: 2 }), 'info Upload started'],
  ['the last byte', change(created, uploaded), 'info Uploaded; the service processes it'],
  ['a ready video', change(uploaded, ready), 'info Ready; waiting to be published in feed_news'],
  ['a live video', change(ready, done), 'info Done: live in feed_news (video vid_1)'],
  ['a video of no feed', change(uploaded, { ...done, published: {} }), 'info Done: the video is ready (video vid_1)'],
  [
    'a moved local file',
    change({ ...done, disposal: 'pending' }, { ...done, disposal: 'moved' }),
    'info The local file was moved',
  ],
  [
    'a kept local file',
    change(done, { ...done, disposal: 'refused', why: 'it changed' }),
    'warn The local file is kept: it changed',
  ],
  ['another name', change({ path: 'a.mp4' }, { path: 'b.mp4' }), 'info Renamed from a.mp4'],
  ['a rule that holds it', change({}, held), 'warn Held: no rule matches'],
  [
    'a rule that takes it again',
    change(held, {}, 'rules or sidecar changed'),
    'info Waiting for its turn: rules or sidecar changed',
  ],
  ['an ignored file', change({}, ignored), 'info Skipped: ignored by anna'],
  [
    'a channel that a sidecar names too late',
    change(created, { ...created, plan: { ...somePlan, refusedChannel: 'ch_b' } }),
    'warn The channel ch_b of its sidecar came too late: the video is in ch_main, and the service cannot move it',
  ],
  ['a failed file before its failure is reported', change({}, { end: 'failed', endedAt: 1 }), null],
  ['a failure with a next attempt', failed({ notBefore: inMinutes(3) }), 'warn It was transient; next try at 17:03'],
  ['a last failure', failed({ end: 'failed' }), 'error It was transient; failed: `dropcast retry` tries it again'],
  ['a duplicate', failed({ end: 'skipped' }, failure('duplicate')), 'info It was duplicate; skipped'],
  [
    'a published feed',
    { type: 'feed', feed: 'feed_a', files: 2, failure: null },
    'info Feed feed_a published with 2 videos',
  ],
  [
    'a feed for which no video waited',
    { type: 'feed', feed: 'feed_a', files: 0, failure: null },
    'info Feed feed_a published again',
  ],
  [
    'a feed that was refused',
    { type: 'feed', feed: 'feed_a', files: 1, failure: failure('permanent') },
    'warn Feed feed_a was not published with 1 video: it was permanent',
  ],
  ['a pause', { type: 'paused', pause }, 'warn Everything waits: no answer from video.example.com; next try at 17:02'],
  [
    'an account that is refused',
    { type: 'paused', pause: { ...pause, kind: 'suspended', why: 'wrong key' } },
    'error Everything waits: wrong key; next try at 17:02',
  ],
  ...(
    [
      ['a service that was away', pause, 'The service is reachable again'],
      [
        'a key that was refused',
        { ...pause, kind: 'suspended', code: 'unauthorized' },
        'The service accepts the key again',
      ],
      ['an upload host that was away', { ...pause, holds: 'uploads' }, 'Files can be uploaded again'],
      ['a full disk', { ...pause, kind: 'suspended', code: 'ENOSPC' }, 'This machine works again'],
    ] as const
  ).map(([what, each, text]): [string, DropcastEvent, string] => [
    `only the end of ${what}`,
    { type: 'resumed', pause: each },
    `info ${text}`,
  ]),
  [
    'a feed that the service does not have',
    { type: 'name', kind: 'feed', name: 'feed_a', isKnown: false },
    'error Videos for feed feed_a wait: the service does not have the feed; create it there, or correct the rules and run `dropcast reload`',
  ],
  [
    'a feed that the service has again',
    { type: 'name', kind: 'feed', name: 'feed_a', isKnown: true },
    'info The service has the feed feed_a; files that waited for it may resume',
  ],
  [
    'a failure whose message begins with an address',
    failed({ end: 'failed' }, failure('offline', { message: 'http://127.0.0.1:1 cannot be reached' })),
    'error http://127.0.0.1:1 cannot be reached; failed: `dropcast retry` tries it again',
  ],
  ['a folder', { type: 'folder', folder: '/in', state: 'watching', why: null }, 'info The folder is watched'],
  [
    'a folder that is away',
    { type: 'folder', folder: '/in', state: 'frozen', why: 'it is empty' },
    'error The folder waits: it is empty',
  ],
])('%s is reported in words', (_, event, line) => {
  const news = newsOf(event, now);
  expect(news && `${news.level} ${news.text}`).toBe(line);
});

test('a line about a file has its id, folder, path and state', () => {
  const news = newsOf(change(created, uploaded), now);
  expect(news).toMatchObject({ type: 'file', file: 'f_1', folder: '/inbox', path: 'clip.mp4', state: 'processing' });
});

test('the last thousand lines are remembered, numbered from one', () => {
  const lines = createNewsLines({ now: () => now }, (error) => expect.fail(String(error)));
  for (let i = 0; i < 1_500; i += 1) lines.tell(change(null, { id: `f_${i}` }));
  const all = lines.since(0);
  expect([all.length, all[0]?.seq, all.at(-1)?.seq, lines.last()]).toEqual([1_000, 501, 1_500, 1_500]);
  expect(lines.since(1_498).map(({ file }) => file)).toEqual(['f_1498', 'f_1499']);
  expect(lines.since(1_500)).toEqual([]);
  expect(lines.since(9_000)).toEqual([]);
});

test('a hostile name is kept as it is, and an endless answer of the service is cut', () => {
  const lines = createNewsLines({ now: () => now }, (error) => expect.fail(String(error)));
  lines.tell(failed({ path: '\u001b[2J\n.mp4' }, failure('permanent', { message: 'x'.repeat(100_000) })));
  const [line] = lines.since(0);
  expect(line?.path).toBe('\u001b[2J\n.mp4');
  expect(line?.text.length).toBeLessThan(700);
});

test('a listener hears each new line until it ends, and one that throws harms no other', () => {
  const broken: unknown[] = [];
  const heard: NewsLine[] = [];
  const lines = createNewsLines({ now: () => now }, (error) => broken.push(error));
  lines.listen(() => {
    throw new Error('a bug');
  });
  const end = lines.listen((line) => heard.push(line));
  lines.tell(change(null, {}));
  lines.tell(change({}, { intent: 'not told' }));
  end();
  lines.tell(change(null, {}));
  expect(heard.map(({ v, seq, at }) => [v, seq, at])).toEqual([[1, 1, now]]);
  expect(broken).toHaveLength(2);
});
