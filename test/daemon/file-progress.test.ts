import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { whyOf } from '../../src/cli/output/file-table.ts';
import { rate, size } from '../../src/view/words/text.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { progressWords } from '../../src/view/files/progress-words.ts';
import { viewOf } from '../../src/view/files/file-view.ts';
import { viewsOf } from '../../src/view/files/file-view.ts';
import type { Pace } from '../../src/pipeline/estimate.ts';
import type { Line } from '../../src/pipeline/file/queue.ts';
import type { LiveUpload } from '../../src/pipeline/steps/uploads.ts';
import { waitsAt } from '../view/moments.ts';
import type { Moment } from '../view/moments.ts';
import { created, failure, someFacts, someVersion } from '../pipeline/some-facts.ts';

const MB = 1_000_000;
const minute = 60_000;
const now = new Date(2026, 10, 22, 14, 0).getTime();
beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => void vi.useRealTimers());

interface World {
  readonly uploads: readonly Partial<LiveUpload>[];
  readonly pace: Partial<Pick<Pace, 'bytesPerSecond' | 'bandwidth' | 'mayStart' | 'later' | 'slots'>>;
  readonly conductor: Partial<Daemon['conductor']>;
}

/** Half of a file is sent, at 10 MB/s, and nothing else is under way. */
const usual: LiveUpload = {
  id: 'f_1',
  sentBytes: 600 * MB,
  sizeBytes: 1_200 * MB,
  idleMs: 0,
  bytesPerSecond: 10 * MB,
};

function daemonOf({ uploads = [{}], pace = {}, conductor = {} }: Partial<World>): Daemon {
  const live = uploads.map((upload, n) => ({ ...usual, id: `f_${n + 1}`, ...upload }));
  const { bytesPerSecond = 10 * MB, bandwidth = null, mayStart = true, later = [], slots = 1 } = pace;
  const opens = later.find((hours) => hours.mayStart)?.inMs;
  const moment: Moment = {
    ...(!mayStart && opens !== undefined && { startAt: now + opens }),
    ...(conductor.pause !== undefined && { pause: conductor.pause() ?? {} }),
    ...(conductor.createsWaitUntil !== undefined && { createsUntil: conductor.createsWaitUntil() ?? 0 }),
  };
  return {
    fleet: null,
    waits: () => waitsAt(moment, now),
    conductor: {
      pause: () => null,
      createsWaitUntil: () => null,
      createsPauses: () => [],
      noSlot: () => 'all',
      uploads: () => live,
      quotaRoom: () => null,
      pace: () => ({ bytesPerSecond, processingMs: null, latePoll: null, slots }),
      ...conductor,
    },
    rows: { isHeld: (id: string) => live.some((upload) => upload.id === id), held: () => live.map(({ id }) => id) },
    gate: {
      snapshot: () => ({ waiting: 0, blockedMs: 0, reported: null, used: 0, limit: 1_000, others: 0, frees: [] }),
    },
    folders: { settling: () => [] },
    times: {
      limit: () => bandwidth,
      mayStart: () => mayStart,
      later: () => later,
    },
    config: () => ({
      poll: { intervalMs: 15_000 },
      publish: { quietMs: 0, atMostMs: 0 },
      folders: [{ path: '/inbox', uploads: 1 }],
    }),
  } as unknown as Daemon;
}

describe('a file that uploads says how far it is:', () => {
  const facts = (sizeBytes: number) =>
    someFacts({ ...created, id: 'f_1', version: { ...someVersion, size: sizeBytes } });
  const slower = [{ inMs: minute / 2, bandwidth: MB, mayStart: true }];
  const closing = [{ inMs: 1_000, bandwidth: null, mayStart: false }];
  const table: readonly (readonly [string, Partial<World>, string])[] = [
    ['in the middle', {}, '600 MB of 1.2 GB at 10 MB/s, done in about 1 min'],
    ['in the first second', { uploads: [{ sentBytes: 0, bytesPerSecond: null }] }, '0 B of 1.2 GB'],
    [
      'after a restart',
      { uploads: [{ sentBytes: MB, bytesPerSecond: null }], pace: { bytesPerSecond: null } },
      '1 MB of 1.2 GB',
    ],
    [
      'almost sent',
      { uploads: [{ sentBytes: 1_199 * MB }] },
      '1.2 GB of 1.2 GB at 10 MB/s, done in less than a minute',
    ],
    ['for hours', { uploads: [{ bytesPerSecond: MB / 20 }] }, '600 MB of 1.2 GB at 50 kB/s, done at about 17:20'],
    [
      'for days',
      { uploads: [{ bytesPerSecond: MB / 200 }] },
      '600 MB of 1.2 GB at 5 kB/s, done at about 2026-11-23 23:20',
    ],
    ['for years', { uploads: [{ bytesPerSecond: 1 }] }, '600 MB of 1.2 GB at 1 B/s'],
    ['slowly', { uploads: [{ bytesPerSecond: 1e-9 }] }, '600 MB of 1.2 GB at 0 B/s'],
    ['while it rests', { uploads: [{ idleMs: 9_999 }] }, '600 MB of 1.2 GB at 10 MB/s, done in about 1 min'],
    ['while it stalls', { uploads: [{ idleMs: 20_000 }] }, 'stalled for 20 s at 600 MB of 1.2 GB'],
    [
      'while it stalls for long',
      { uploads: [{ idleMs: 250_000, bytesPerSecond: 0 }] },
      'stalled for 4 min at 600 MB of 1.2 GB',
    ],
    [
      'while it stalls from the start',
      { uploads: [{ sentBytes: 0, idleMs: 15_000, bytesPerSecond: null }] },
      'stalled for 15 s at 0 B of 1.2 GB',
    ],
    [
      'before the timetable gets slower',
      { pace: { later: slower } },
      '600 MB of 1.2 GB at 10 MB/s, done in about 6 min',
    ],
    ['before the window closes', { pace: { later: closing } }, '600 MB of 1.2 GB at 10 MB/s, done in about 1 min'],
    ['while the window is closed', { pace: { mayStart: false } }, '600 MB of 1.2 GB at 10 MB/s, done in about 1 min'],
    ['while others wait', { conductor: { pause: () => paused } }, '600 MB of 1.2 GB at 10 MB/s, done in about 1 min'],
    [
      'when all is sent',
      { uploads: [{ sentBytes: 1_200 * MB, idleMs: 60_000 }] },
      'sent; waiting for the answer of the upload host',
    ],
  ];
  test.for(table)('%s', ([, world, words]) => {
    const view = viewOf(daemonOf(world), facts(1_200 * MB));
    expect(whyOf(view)).toBe(words);
    expect(JSON.stringify(view)).not.toMatch(/NaN|Infinity/);
  });

  test('without bytes', () => {
    const view = viewOf(daemonOf({ uploads: [{ sentBytes: 0, sizeBytes: 0, bytesPerSecond: null }] }), facts(0));
    expect([whyOf(view), view.upload]).toEqual(['', { bytes_per_second: null, stalled_since: null, done_at: now }]);
  });

  test('after an attempt that failed', () => {
    const view = viewOf(daemonOf({}), { ...facts(1_200 * MB), lastFailure: failure('transient') });
    expect(whyOf(view)).toBe('600 MB of 1.2 GB at 10 MB/s, done in about 1 min; last attempt: it was transient');
  });

  test('as figures for programs', () => {
    expect(viewOf(daemonOf({}), facts(1_200 * MB))).toMatchObject({
      sent: 600 * MB,
      upload: { bytes_per_second: 10 * MB, stalled_since: null, done_at: now + minute },
      queue: null,
    });
    expect(viewOf(daemonOf({ uploads: [{ idleMs: 20_000 }] }), facts(1_200 * MB)).upload).toEqual({
      bytes_per_second: 0,
      stalled_since: now - 20_000,
      done_at: null,
    });
  });

  test('only while a daemon runs', () => {
    expect(viewOf(null, facts(1_200 * MB))).toMatchObject({ upload: null, queue: null });
  });
});

const paused = {
  kind: 'offline',
  holds: 'uploads',
  why: 'no answer',
  code: '',
  since: 0,
  probes: 0,
  nextProbeAt: 0,
} as const;

describe('a file in line says when it starts:', () => {
  const line: Line = {
    state: 'queued',
    priority: 'normal',
    isBig: false,
    isUrgent: false,
    folder: '/inbox',
    files: 4,
    bytes: 2_400 * MB,
  };
  const closed = { mayStart: false, later: [{ inMs: 6 * 60 * minute, bandwidth: null, mayStart: true }] };
  const table: readonly (readonly [string, Partial<World>, number, string])[] = [
    ['next', {}, 0, 'waiting for its turn; starts in about 1 min'],
    ['after two others', {}, 2, '2 files of its folder are ahead of it; starts in about 3 min'],
    ['with a slot free', { uploads: [] }, 0, 'waiting for its turn; starts in less than a minute'],
    ['when the window opens', { uploads: [], pace: closed }, 0, 'outside `uploads.window`; resumes at 20:00'],
    [
      'some time after the window opens',
      { uploads: [], pace: closed },
      3,
      'outside `uploads.window`; resumes at 20:00; starts at about 20:03',
    ],
    [
      'before the timetable gets slower',
      { pace: { later: [{ inMs: minute, bandwidth: MB, mayStart: true }] } },
      1,
      '1 file of its folder is ahead of it; starts in about 11 min',
    ],
    [
      'not, when nothing was measured',
      { pace: { bytesPerSecond: null } },
      1,
      '1 file of its folder is ahead of it; the speed of uploads is not measured yet',
    ],
    [
      'not, while the line stalls',
      { uploads: [{ bytesPerSecond: 0 }], pace: { bytesPerSecond: 0 } },
      1,
      '1 file of its folder is ahead of it; nothing is being sent at the moment',
    ],
    [
      'at the configured speed, when nothing was measured',
      { uploads: [{ bytesPerSecond: null }], pace: { bytesPerSecond: null, bandwidth: 10 * MB } },
      1,
      '1 file of its folder is ahead of it; starts in about 2 min',
    ],
    ['not, while all waits', { conductor: { pause: () => paused } }, 1, 'waiting for the upload host'],
    [
      'not, when its folder has enough',
      { conductor: { noSlot: () => 'folder' } },
      1,
      'its folder already has 1 upload',
    ],
    [
      'not, when too many requests were not answered',
      { conductor: { createsWaitUntil: () => now + 30 * minute } },
      1,
      'too many create requests in the last hour got no usable answer; resumes at 14:30',
    ],
  ];
  test.for(table)('%s', async ([, world, before, words]) => {
    const facts = someFacts({ id: 'f_9' });
    const ledger = {
      before: async () => new Map([['f_9', before]]),
      lines: async () => [line],
      note: async () => null,
    } as unknown as Parameters<typeof viewsOf>[0];
    const files = await viewsOf(ledger, daemonOf(world), [facts]);
    expect(files.map(whyOf)).toEqual([words]);
    expect(files[0]?.queue?.before).toBe(before);
    expect(JSON.stringify(files)).not.toMatch(/NaN|Infinity/);
  });

  test('files that a step works on are not before it', async () => {
    const asked: unknown[] = [];
    const ledger = {
      before: async (...args: unknown[]) => (asked.push(args[2]), new Map()),
      lines: async (without: unknown) => (asked.push(without), []),
      note: async () => null,
    } as unknown as Parameters<typeof viewsOf>[0];
    await viewsOf(ledger, daemonOf({}), [someFacts({ id: 'f_9' })]);
    expect(asked).toEqual([['f_1'], ['f_1']]);
  });
});

test.for([
  [0, '0 B', '0 B/s'],
  [0.4, '0 B', '0 B/s'],
  [999, '999 B', '1 kB/s'],
  [999_600, '1 MB', '1 MB/s'],
  [12_345_678, '12.3 MB', '12 MB/s'],
  [3_410_000_000, '3.41 GB', '3.4 GB/s'],
  [2e18, '2000 PB', '2000 PB/s'],
] as const)('%d bytes are %s, and %s in a second', ([bytes, asSize, asRate]) => {
  expect([size(bytes), rate(bytes)]).toEqual([asSize, asRate]);
});

test('a file that the service processes says when it is ready', () => {
  const file = { upload: null, queue: null, sent: null, size: 1, why: null };
  expect(progressWords({ ...file, ready_at: 5 * 60_000 }, 0)).toBe('ready in about 5 min');
  expect(progressWords({ ...file, ready_at: null }, 0)).toBeNull();
});
