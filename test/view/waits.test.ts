import { expect, test } from 'vitest';
import { topLines } from '../../src/cli/output/top-frame.ts';
import type { OperatorPause, Pause } from '../../src/pipeline/events.ts';
import { troublePanel } from '../../src/status/page/views/overview/trouble.ts';
import { statusText } from '../../src/systemd/status-text.ts';
import { briefly, mainWait, waitLines, waitsOf, whyWords } from '../../src/view/waits.ts';
import type { WaitCause } from '../../src/view/waits.ts';
import { noon, someOverview } from '../daemon/overview/some-overview.ts';
import { idle } from '../status/page/idle-daemon.ts';

const minute = 60_000;

const textOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ')
    .trim();

/** One moment of a daemon. */
interface Moment {
  readonly away?: string;
  readonly pause?: Partial<Pause>;
  readonly people?: readonly OperatorPause[];
  readonly createsUntil?: number;
  readonly startAt?: number;
  readonly blockedUntil?: number;
  readonly frozen?: readonly string[];
  readonly unknown?: readonly ('channel' | 'feed')[];
}

const waitsAt = (moment: Moment) =>
  waitsOf(
    {
      conductor: {
        pause: () => (moment.pause === undefined ? null : { ...offline, ...moment.pause }),
        createsWaitUntil: () => moment.createsUntil ?? null,
        pauses: { list: () => moment.people ?? [] },
        names: {
          unknown: () => (moment.unknown ?? []).map((kind) => ({ kind, name: `${kind}_x`, since: noon - 5 * minute })),
        },
      },
      gate: { snapshot: () => ({ ...usage, blockedUntil: moment.blockedUntil ?? 0 }) },
      times: { startAt: () => moment.startAt ?? null },
      folders: {
        frozenFolders: () => (moment.frozen ?? []).map((path) => ({ path, why: 'nothing is mounted there' })),
      },
      fleet: {
        whyAway: () => moment.away ?? null,
        awaySince: () => (moment.away === undefined ? null : noon - minute),
      },
    },
    noon,
  );

const usage = { used: 9, limit: 1_000, waiting: 0, total: 9, frees: [], blockedMs: 0, others: 0 };
const offline: Pause = {
  kind: 'offline',
  holds: 'everything',
  why: 'https://video.example.com cannot be reached',
  code: 'ECONNREFUSED',
  since: noon - 8 * minute,
  probes: 1,
  nextProbeAt: noon + 5 * minute,
};
const key = {
  kind: 'suspended',
  code: 'unauthorized',
  why: 'the service answered 401; new key: `sudo dropcast setup --key-file - --force`',
} as const;
const disk = { kind: 'suspended', code: 'ENOSPC', why: 'the disk of /var/lib/dropcast is full' } as const;
const host = { holds: 'uploads', why: 'the upload host up.example.com cannot be reached' } as const;
const all: OperatorPause = { folder: null, since: noon - 70 * minute, until: noon + 350 * minute, by: 'anna' };
const one: OperatorPause = { folder: '/srv/late', since: noon - 10 * minute, until: null, by: 'ben' };

/** Each row: name, moment, brief words of the main wait, all lines in their order. */
test.each<[string, Moment, string, readonly string[]]>([
  ['nothing waits', {}, 'Idle', []],
  [
    'the service is away',
    { pause: {} },
    'Waiting for the service',
    ['Everything waits: https://video.example.com cannot be reached, since 12:02; next try at 12:15.'],
  ],
  [
    'the key is refused',
    { pause: key },
    'Waiting for the key',
    [
      'Everything waits: the service answered 401; new key: `sudo dropcast setup --key-file - --force`, since 12:02; next try at 12:15.',
    ],
  ],
  [
    'the account is refused',
    { pause: { ...key, code: 'payment_required', why: 'the service answered 402' } },
    'Waiting for the account',
    ['Everything waits: the service answered 402, since 12:02; next try at 12:15.'],
  ],
  [
    'the disk is full',
    { pause: disk },
    'Waiting for this machine',
    ['Everything waits: the disk of /var/lib/dropcast is full, since 12:02; next try at 12:15.'],
  ],
  [
    'an upload host is away',
    { pause: host },
    'Waiting for the upload host',
    ['Uploads wait: the upload host up.example.com cannot be reached, since 12:02; next try at 12:15.'],
  ],
  [
    'anna paused everything',
    { people: [all] },
    'Paused by anna since 11:00 until 18:00',
    ['Everything waits: paused by anna since 11:00 until 18:00; `dropcast resume --all` ends it.'],
  ],
  [
    'ben paused a folder',
    { people: [one] },
    'Idle',
    ['/srv/late waits: paused by ben since 12:00; `dropcast resume /srv/late` ends it.'],
  ],
  [
    'both did',
    { people: [one, all] },
    'Paused by anna since 11:00 until 18:00',
    [
      'Everything waits: paused by anna since 11:00 until 18:00; `dropcast resume --all` ends it.',
      '/srv/late waits: paused by ben since 12:00; `dropcast resume /srv/late` ends it.',
    ],
  ],
  [
    'too many creates had no answer',
    { createsUntil: noon + 20 * minute },
    'Waiting for answers to create requests',
    ['New files wait: too many create requests of the last hour had no usable answer; resumes at 12:30.'],
  ],
  [
    'uploads start in the evening',
    { startAt: noon + 470 * minute },
    'Waiting for the upload window',
    ['Uploads wait: outside `uploads.window`; resumes at 20:00.'],
  ],
  [
    'uploads start tomorrow',
    { startAt: noon + 1_190 * minute },
    'Waiting for the upload window',
    ['Uploads wait: outside `uploads.window`; resumes at 2026-11-23 08:00.'],
  ],
  [
    'the service limits the rate',
    { blockedUntil: noon + minute },
    'Idle',
    ['Requests wait: the service limits the rate of requests (429); resumes at 12:11.'],
  ],
  ['a rate limit has ended', { blockedUntil: noon - minute }, 'Idle', []],
  ['a folder is away', { frozen: ['/mnt/nas'] }, 'Idle', ['/mnt/nas waits: nothing is mounted there.']],
  [
    'two folders are away',
    { frozen: ['/mnt/a', '/mnt/b'] },
    'Idle',
    ['/mnt/a waits: nothing is mounted there.', '/mnt/b waits: nothing is mounted there.'],
  ],
  [
    'the service has no channel of that name',
    { unknown: ['channel'] },
    'Idle',
    [
      'Files for channel channel_x wait: the service does not have the channel, since 12:05; create it there, or correct the rules and run `dropcast reload`.',
    ],
  ],
  [
    'the service has no feed of that name',
    { unknown: ['feed'] },
    'Idle',
    [
      'Videos for feed feed_x wait: the service does not have the feed, since 12:05; create it there, or correct the rules and run `dropcast reload`.',
    ],
  ],
  [
    'the database of a fleet is away, which has a list of its own',
    { away: 'PostgreSQL cannot be reached' },
    'Waiting for the database',
    [],
  ],
  [
    'much is wrong at once',
    {
      away: 'PostgreSQL cannot be reached',
      pause: host,
      people: [one],
      createsUntil: noon + 20 * minute,
      startAt: noon + 470 * minute,
      blockedUntil: noon + minute,
      frozen: ['/mnt/nas'],
      unknown: ['channel'],
    },
    'Waiting for the database',
    [
      'Uploads wait: the upload host up.example.com cannot be reached, since 12:02; next try at 12:15.',
      '/srv/late waits: paused by ben since 12:00; `dropcast resume /srv/late` ends it.',
      'New files wait: too many create requests of the last hour had no usable answer; resumes at 12:30.',
      'Uploads wait: outside `uploads.window`; resumes at 20:00.',
      'Requests wait: the service limits the rate of requests (429); resumes at 12:11.',
      '/mnt/nas waits: nothing is mounted there.',
      'Files for channel channel_x wait: the service does not have the channel, since 12:05; create it there, or correct the rules and run `dropcast reload`.',
    ],
  ],
])('%s: every surface has the same causes in the same order and words', async (_name, moment, brief, lines) => {
  const waits = waitsAt(moment);
  const main = mainWait(waits, 1);
  expect(main === null ? 'Idle' : briefly(main)).toBe(brief);
  // `dropcast status`.
  expect(waitLines(waits, noon)).toEqual(lines);
  const view = someOverview({ waits });
  // `dropcast top`.
  expect(topLines({ view, width: Infinity, colour: false }).filter((line) => lines.includes(line))).toEqual(lines);
  // The page.
  const listed = waits.filter(({ cause }) => cause !== 'database');
  expect(textOf(String(await troublePanel(view, noon)))).toBe(
    listed.map((wait) => `waits ${wait.what} : ${whyWords(wait, noon)}`).join(' '),
  );
  // The status line of the unit.
  const line = statusText({ ...idle, waits, queued: 1 }, noon);
  if (main === null) expect(line).toMatch(/^1 queued/);
  else expect(line).toContain(whyWords(main, noon));
});

test('the order of causes is that of what they hold', () => {
  const order: readonly WaitCause[] = ['database', 'upload host', 'paused', 'unanswered creates', 'upload window'];
  const waits = waitsAt({
    away: 'PostgreSQL cannot be reached',
    pause: host,
    people: [one],
    createsUntil: noon + minute,
    startAt: noon + minute,
  });
  expect(waits.map(({ cause }) => cause)).toEqual(order);
});
