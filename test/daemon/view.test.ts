import { describe, expect, test } from 'vitest';
import { noPauses } from './no-pauses.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { deletionWords } from '../../src/view/files/file-view.ts';
import { viewOf, viewsOf } from '../../src/view/files/file-view.ts';
import { filesOf } from '../../src/view/files/files-view.ts';
import type { FilesLedger } from '../../src/view/files/files-view.ts';
import { refusedFor } from '../../src/view/picture/read-rows.ts';
import type { FileRange, FileSelection } from '../../src/pipeline/file/selection.ts';
import type { NoSlot } from '../../src/pipeline/steps/lanes.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { PollTrouble } from '../../src/pipeline/rounds/sweep.ts';
import { waitsAt } from '../view/moments.ts';
import { created, failure, ready, someFacts, someVersion, uploaded } from '../pipeline/some-facts.ts';

/** Five files wait for an upload slot, newest first; the oldest of them has it. */
const waiting = [5, 4, 3, 2, 1].map((n) => someFacts({ ...created, id: `f_${n}` }));
const somePage = { first: '5', last: '1', isMoreBefore: false, isMoreAfter: false };
const running = { id: 'f_1', sentBytes: 7, sizeBytes: someVersion.size, idleMs: 0, bytesPerSecond: null };
const ledger = {
  selection: {
    page: async (_selection: FileSelection, { limit }: FileRange) => ({ ...somePage, files: waiting.slice(0, limit) }),
  },
  counts: async () => [{ files: waiting.length }],
  before: (ids: readonly string[]) => Promise.resolve(new Map(ids.map((id) => [id, 7]))),
  lines: () => Promise.resolve([]),
  note: () => Promise.resolve(null),
} as unknown as FilesLedger;
const daemon = {
  fleet: null,
  waits: () => [],
  pauses: noPauses,
  conductor: {
    pauses: noPauses,
    pause: () => null,
    createsWaitUntil: () => null,
    createsPauses: () => [],
    names: { unknown: () => [] },
    feedsWaiting: () => [],
    pollTrouble: (): PollTrouble | null => null,
    noSlot: (): NoSlot | null => null,
    uploads: () => [running],
    quotaRoom: () => null,
    pace: () => ({ bytesPerSecond: null, processingMs: null, latePoll: null, slots: 4 }),
  },
  rows: { isHeld: (id: string) => id === 'f_1', held: () => ['f_1'] },
  gate: {
    snapshot: () => ({ waiting: 0, blockedMs: 0, reported: null, used: 0, limit: 1_000, left: 1_000, frees: [] }),
  },
  folders: { settling: () => [] },
  times: { startAt: () => null, limit: () => null, mayStart: () => true, later: () => [] },
  config: () => ({
    poll: { intervalMs: 15_000 },
    publish: { quietMs: 0, atMostMs: 0 },
    folders: [{ path: '/inbox', uploads: 2 }],
  }),
} as unknown as Daemon;

test('a limit counts what settles too', async () => {
  const settling = [1, 2, 3].map((n) => ({ folder: '/inbox', path: `${n}.mp4`, size: n, why: 'unchanged for 1 s' }));
  const busy = { ...daemon, folders: { settling: () => settling } } as unknown as Daemon;
  const counts = async (limit: number) => {
    const view = await filesOf(ledger, busy, { selection: {}, range: { limit } });
    return [view.settling.length, view.files.length];
  };
  expect(await counts(2)).toEqual([2, 0]);
  expect(await counts(4)).toEqual([3, 1]);
});

test.each<[NoSlot | null, number, string]>([
  ['folder', 3, 'its folder already has 2 uploads'],
  ['kept for small', 3, 'waiting for an upload slot: of 4, at least one is kept for files of up to 256 MiB'],
  ['all', 7, '7 files of its folder are ahead of it'],
  ['all', 1, '1 file of its folder is ahead of it'],
  [null, 1_000, 'more than 1,000 files of its folder are ahead of it'],
  [null, 0, 'waiting for its turn'],
])('a queued file without a slot (%s) behind %i others says why it waits', async (noSlot, before, why) => {
  const busy = { ...daemon, conductor: { ...daemon.conductor, noSlot: () => noSlot } } as unknown as Daemon;
  const queued = someFacts({ id: 'f_9' });
  const asked = { ...ledger, before: async () => new Map([['f_9', before]]) };
  const files = await viewsOf(asked, busy, [queued]);
  expect(files.map((file) => file.why)).toEqual([why]);
});

test('a queued file says that too many create requests had no answer, and when it continues', () => {
  const capped = { ...daemon, waits: () => waitsAt({ createsUntil: Date.now() + 30 * 60_000 }) };
  expect(viewOf(capped, someFacts({ id: 'f_9' })).why).toMatch(
    /create requests .* no usable answer; resumes at [- \d:]+$/,
  );
  expect(viewOf(capped, someFacts({ ...created, id: 'f_9' })).why).toBe('waiting for an upload slot');
});

test.for([
  ['queued', {}],
  ['awaiting upload', created],
] as const)('a file that is %s says when uploads start', ([, facts]) => {
  const startAt = new Date();
  startAt.setHours(20, 0, 0, 0);
  const later = { ...daemon, waits: () => waitsAt({ startAt: startAt.getTime() }) };
  expect(viewOf(later, someFacts({ ...facts, id: 'f_9' })).why).toBe('outside `uploads.window`; resumes at 20:00');
});

const limitedFor = (blockedMs: number, asking = 1): Daemon =>
  ({
    ...daemon,
    gate: { snapshot: () => ({ waiting: asking }) },
    waits: () => waitsAt({ blockedUntil: Date.now() + blockedMs }, Date.now()),
  }) as unknown as Daemon;

test.for([
  { waiting: 0, blockedMs: 0, why: /turn/ },
  { waiting: 1, blockedMs: 0, why: /budget/ },
  { waiting: 1, blockedMs: 60_000, why: /rate limited.* resumes in (60|59) s$/ },
])('a queued file says: $why', ({ waiting: asking, blockedMs, why }) => {
  const limited = limitedFor(blockedMs, asking);
  expect(viewOf(limited, someFacts({ id: 'f_9' })).why).toMatch(why);
});

// Out of reach in a hidden directory, a large file seems to be lost for minutes.
test.for([
  [{ kind: 'delete' }, 'f_1', 'its local file is out of reach while it is read once more; then it is deleted'],
  [{ kind: 'move', to: 'done' }, 'f_1', 'its local file is out of reach while it is read once more; then it is moved'],
  [{ kind: 'move', to: 'done' }, 'f_2', null],
] as const)('a finished file says where its local file is: %j %s', ([afterReady, id, why]) => {
  const facts = someFacts({ ...ready, id, end: 'done', disposal: 'pending', afterReady });
  expect(viewOf(daemon, facts).why).toBe(why);
});

describe('a finished file whose local file is deleted later', () => {
  const day = 86_400_000;
  const doneAt = new Date(2026, 10, 22, 14, 0).getTime();
  const now = new Date(2026, 10, 23).getTime();
  test.for([
    [{ afterMs: 7 * day, whenFull: 85 }, 'will be deleted after 2026-11-29 14:00, or when the disk is 85 % full'],
    [{ afterMs: 60 * day, whenFull: null }, 'will be deleted after 2027-01-21 14:00'],
    [{ afterMs: null, whenFull: 90 }, 'will be deleted when the disk is 90 % full'],
  ] as const)('says when: %j', ([later, words]) => {
    const facts = someFacts({
      ...ready,
      end: 'done',
      endedAt: doneAt,
      disposal: 'later',
      afterReady: { kind: 'delete', later },
    });
    expect(deletionWords(facts, now)).toBe(words);
    expect(viewOf(null, facts)).toMatchObject({ local: 'later', why: expect.stringMatching(/^will be deleted/) });
    expect(viewOf(null, { ...facts, disposal: 'deleted' }).why).toBeNull();
  });
});

test('only files that have yet to be sent wait for an upload host', () => {
  const held = { ...daemon, waits: () => waitsAt({ pause: { holds: 'uploads' } }) };
  const away = { ...daemon, waits: () => waitsAt({ pause: {} }) };
  const of = (one: Daemon, stage: Partial<Facts>) => viewOf(one, someFacts({ ...stage, id: 'f_9' })).why;
  expect([of(held, {}), of(held, created)]).toEqual(['waiting for the upload host', 'waiting for the upload host']);
  expect(of(held, ready)).toBe('waiting to publish several at once');
  expect(of(away, ready)).toBe('waiting for the service');
});

test('an upload says when all bytes have left and only the answer is missing', () => {
  const sending = (sentBytes: number): Daemon => ({
    ...daemon,
    conductor: { ...daemon.conductor, uploads: () => [{ ...running, sentBytes }] },
  });
  const { size } = someVersion;
  const of = (sentBytes: number) => viewOf(sending(sentBytes), someFacts({ ...created, id: 'f_1' }));
  expect(of(size - 1)).toMatchObject({ state: 'uploading', why: null });
  expect(of(size)).toMatchObject({ state: 'uploading', why: 'sent; waiting for the answer of the upload host' });
});

const at = (minutes: number): number => new Date(2030, 0, 1, 14, minutes).getTime();

test.for<[string, Partial<Facts>, Partial<Daemon['conductor']>, string | null]>([
  ['in processing', uploaded, {}, null],
  [
    'in processing, when the budget is short',
    uploaded,
    { pollTrouble: () => ({ kind: 'budget', nextAt: at(32), left: 12, limit: 1_000 }) },
    'the next check waits until 2030-01-01 14:32: the 12 requests that are left this hour are kept for creating and publishing',
  ],
  [
    'in processing, when the budget is used up',
    uploaded,
    { pollTrouble: () => ({ kind: 'budget', nextAt: at(32), left: 0, limit: 1_000 }) },
    'the next check waits until 2030-01-01 14:32: all 1000 requests of this hour are used',
  ],
  [
    'in processing, when the service lists nothing',
    uploaded,
    { pollTrouble: () => ({ kind: 'no list', failure: failure('transient') }) },
    'the service does not list videos (it was transient): dropcast polls each one by its id, which is slower',
  ],
  [
    'ready',
    ready,
    {
      feedsWaiting: () => [
        { feed: 'feed_news', files: 1, since: at(0), latestAt: at(5), failure: null, nextTryAt: null },
      ],
    },
    'waiting to publish several at once, until 2030-01-01 14:05 at the latest',
  ],
  // It said 'waiting a few seconds' while a feed was refused for hours.
  [
    'ready, when its feed backs off',
    ready,
    {
      feedsWaiting: () => [
        { feed: 'feed_other', files: 1, since: at(0), latestAt: at(1), failure: null, nextTryAt: null },
        { feed: 'feed_news', files: 1, since: at(0), latestAt: at(5), failure: failure('transient'), nextTryAt: at(9) },
      ],
    },
    'feed feed_news could not be published: it was transient; next try at 2030-01-01 14:09',
  ],
])('a file that is %s says why it waits', ([, stage, conductor, why]) => {
  const one = { ...daemon, conductor: { ...daemon.conductor, ...conductor } } as unknown as Daemon;
  expect(viewOf(one, someFacts({ ...stage, id: 'f_9' })).why).toBe(why);
});

test('whatever asks the service says that it is rate limited', () => {
  const limited = limitedFor(30_000);
  for (const stage of [{}, uploaded, ready])
    expect(viewOf(limited, someFacts({ ...stage, id: 'f_9' })).why).toMatch(
      /^rate limited by the service; resumes in (30|29) s$/,
    );
  expect(viewOf(limited, someFacts({ ...created, id: 'f_9' })).why).toBe('waiting for an upload slot');
});

// It was tried once a minute for ever, and nobody was told that somebody has to look.
test('a file that its upload host has not taken for an hour needs a person', () => {
  const refused = someFacts({ ...created, id: 'f_1', notBefore: 5, lastFailure: failure('offline') });
  const others = [
    someFacts({ ...created, id: 'f_2' }),
    someFacts({ ...created, id: 'f_3', notBefore: 5, lastFailure: failure('transient') }),
    someFacts({ ...uploaded, id: 'f_4', notBefore: 5, lastFailure: failure('offline') }),
    someFacts({ id: 'f_5', notBefore: 5, lastFailure: failure('offline') }),
  ];
  const named = (holds: 'uploads' | 'everything', minutes: number): readonly string[] =>
    refusedFor([refused, ...others], { holds, since: Date.now() - minutes * 60_000 }).map(({ id }) => id);
  expect([named('uploads', 61), named('uploads', 59), named('everything', 61)]).toEqual([['f_1'], [], []]);
  expect(refusedFor([refused], null)).toEqual([]);
});
