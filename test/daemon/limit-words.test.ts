import { expect, test } from 'vitest';
import { clockTime } from '../../src/view/words/text.ts';
import { limitSentence, limitWords } from '../../src/view/outlook.ts';
import type { Limit, Pace } from '../../src/pipeline/estimate.ts';

const nowMs = new Date(2026, 10, 22, 14, 0).getTime();
const backlog = { toCreate: 0, toSend: 100, bytesToSend: 1, processing: 0, toPublish: 0, feeds: 0 };
const pace: Pace = {
  bytesPerSecond: 12_345_678,
  bandwidth: 20_000_000,
  mayStart: false,
  later: [{ inMs: 6 * 3_600_000, bandwidth: null, mayStart: true }],
  slots: 4,
  room: { limit: 1_000, left: 12, closedMs: 0, frees: [[32 * 60_000, 5]] },
  processingMs: 120_000,
  pollMs: 15_000,
  latePoll: null,
  quota: null,
  quietMs: 10_000,
  atMostMs: 120_000,
};
const unknown = { ...pace, bytesPerSecond: null, bandwidth: null, processingMs: null };
const pause = { kind: 'offline', holds: 'uploads', why: 'no answer', code: '', probes: 0 } as const;
const told = { ...pause, since: 0, nextProbeAt: 0 };

test.for<[Limit, Pace, string]>([
  ['upload bandwidth', pace, '12 MB/s currently; uploads.bandwidth allows 20 MB/s'],
  ['upload bandwidth', unknown, ''],
  ['upload bandwidth', { ...unknown, bandwidth: 20_000_000 }, 'uploads.bandwidth allows 20 MB/s'],
  ['upload slots', pace, 'all 4 are in use, and 96 more files are waiting; together they send 12 MB/s'],
  ['upload slots', unknown, 'all 4 are in use, and 96 more files are waiting'],
  ['upload window', pace, 'uploads start at 20:00'],
  ['request budget', pace, '12 of 1000 requests are left this hour; more from 14:32 on'],
  [
    'request budget',
    { ...pace, room: { ...pace.room, closedMs: 1_800_000 } },
    'rate limited by the service until 14:30',
  ],
  [
    'request budget',
    { ...pace, latePoll: { inMs: 9 * 60_000, everyMs: 600_000 } },
    '12 of 1000 requests are left this hour, and the next check waits until 14:09; more from 14:32 on',
  ],
  [
    'quota',
    {
      ...pace,
      quota: {
        left: { videos: 3, bytes: 2_000_000_000, minutes: Infinity },
        most: { videos: 100, bytes: 5_000_000_000, minutes: Infinity },
        minutesPerVideo: null,
        resetsInMs: 10 * 3_600_000,
        periodMs: 86_400_000,
      },
    },
    '3 of 100 videos are left; 2 GB of 5 GB are left; more from 2026-11-23 00:00 on',
  ],
  [
    'quota',
    {
      ...pace,
      quota: {
        left: { videos: Infinity, bytes: Infinity, minutes: 12.5 },
        most: { videos: Infinity, bytes: Infinity, minutes: 600 },
        minutesPerVideo: 3,
        resetsInMs: 10 * 3_600_000,
        periodMs: 86_400_000,
      },
    },
    '12 of 600 minutes are left; more from 2026-11-23 00:00 on',
  ],
  ['processing at the service', pace, 'it takes about 2 min per video'],
  ['processing at the service', unknown, 'it has not finished any video yet'],
  ['publish quiet', pace, 'feeds are published 10 s after the last video became ready'],
  ['pause', pace, 'no answer'],
  ['nothing', pace, 'no limit slows the files down'],
])('limited by %s is explained', ([limit, how, words]) => {
  expect(limitWords(limit, { backlog, pace: how, pause: told, nowMs })).toBe(words);
});

test('a time of another day has its date', () => {
  expect(clockTime(new Date(2026, 10, 22, 14, 5).getTime(), nowMs)).toBe('14:05');
  expect(clockTime(new Date(2026, 10, 23, 9, 5).getTime(), nowMs)).toBe('2026-11-23 09:05');
});

test.for<[Limit, string | null]>([
  ['upload slots', 'Limited by upload slots: all 4 are in use'],
  ['upload window', 'Limited by uploads.window: all 4 are in use'],
  ['publish quiet', 'Limited by publish.quiet: all 4 are in use'],
  ['pause', 'Waiting: all 4 are in use'],
  ['nothing', null],
])('%s is named as a person knows it', ([limit, sentence]) => {
  expect(limitSentence({ limited_by: limit, why: 'all 4 are in use' })).toBe(sentence);
});

test('what is not measured yet is not spoken of', () => {
  expect(limitSentence({ limited_by: 'upload bandwidth', why: '' })).toBe('Limited by upload bandwidth');
});
