import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimate, filesAhead, startsInMs, uploadedInMs } from '../../src/pipeline/estimate.ts';
import type { Backlog, Pace, RequestRoom } from '../../src/pipeline/estimate.ts';
import type { Line, QueuePosition } from '../../src/pipeline/file/queue.ts';
import { begun, sendingMs } from '../../src/pipeline/sending-time.ts';

const minute = 60_000;
const MB = 1_000_000;
const nothing: Backlog = { toCreate: 0, toSend: 0, bytesToSend: 0, processing: 0, toPublish: 0, feeds: 0 };
const open: RequestRoom = { limit: 1_000, left: 1_000, closedMs: 0, frees: [] };
const pace: Pace = {
  bytesPerSecond: 10 * MB,
  bandwidth: null,
  mayStart: true,
  later: [],
  slots: 4,
  room: open,
  processingMs: minute,
  pollMs: 15_000,
  latePoll: null,
  quota: null,
  quietMs: 10_000,
  atMostMs: 120_000,
};
const files = (count: number, megabytes: number): Partial<Backlog> => ({
  toCreate: count,
  toSend: count,
  bytesToSend: count * megabytes * MB,
  feeds: 1,
});
const withProcessed = (count: number, megabytes: number): Partial<Backlog> => ({
  ...files(count, megabytes),
  processing: 1,
});
const room = (other: Partial<RequestRoom>): Partial<Pace> => ({ room: { ...open, ...other } });

describe('what waits is limited by', () => {
  const table: readonly (readonly [string, Partial<Backlog>, Partial<Pace>, string, number | null])[] = [
    ['nothing, when nothing waits', {}, {}, 'nothing', 0],
    ['the slots, when files wait for one', files(100, 100), {}, 'upload slots', 1_000_000 + 85_000],
    ['the line, when only what is being sent is left', files(4, 1_000), {}, 'upload bandwidth', 400_000 + 85_000],
    [
      'the quota of videos, day by day',
      files(100, 1),
      {
        quota: {
          left: { videos: 10, bytes: Infinity, minutes: Infinity },
          most: { videos: 40, bytes: Infinity, minutes: Infinity },
          minutesPerVideo: null,
          resetsInMs: 3_600_000,
          periodMs: 86_400_000,
        },
      },
      'quota',
      3_600_000 + 2 * 86_400_000 + 85_000,
    ],
    [
      'the quota of bytes',
      files(10, 100),
      {
        quota: {
          left: { videos: Infinity, bytes: 500 * MB, minutes: Infinity },
          most: { videos: Infinity, bytes: 500 * MB, minutes: Infinity },
          minutesPerVideo: null,
          resetsInMs: 3_600_000,
          periodMs: 86_400_000,
        },
      },
      'quota',
      3_600_000 + 85_000,
    ],
    [
      'the quota of minutes, as long as files usually are',
      files(10, 1),
      {
        quota: {
          left: { videos: Infinity, bytes: Infinity, minutes: 5 },
          most: { videos: Infinity, bytes: Infinity, minutes: 20 },
          minutesPerVideo: 3,
          resetsInMs: 3_600_000,
          periodMs: 86_400_000,
        },
      },
      'quota',
      3_600_000 + 86_400_000 + 85_000,
    ],
    [
      'no quota that has room',
      files(4, 1_000),
      {
        quota: {
          left: { videos: 4, bytes: Infinity, minutes: Infinity },
          most: { videos: 40, bytes: Infinity, minutes: Infinity },
          minutesPerVideo: null,
          resetsInMs: 3_600_000,
          periodMs: 86_400_000,
        },
      },
      'upload bandwidth',
      400_000 + 85_000,
    ],
    [
      'the configured bandwidth, when it is used up',
      files(100, 100),
      { bandwidth: 10 * MB },
      'upload bandwidth',
      1_000_000 + 85_000,
    ],
    [
      'the slots, when the configured bandwidth is not used up',
      files(100, 100),
      { bandwidth: 100 * MB },
      'upload slots',
      1_000_000 + 85_000,
    ],
    [
      'the configured bandwidth, when nothing was measured',
      files(100, 100),
      { bandwidth: 5 * MB, bytesPerSecond: null },
      'upload bandwidth',
      2_000_000 + 85_000,
    ],
    ['the slots, for an unknown time', files(100, 100), { bytesPerSecond: null }, 'upload slots', null],
    [
      'the budget, when it has no room',
      files(10, 1),
      room({ left: 0, frees: [[30 * minute, 500]] }),
      'request budget',
      30 * minute + 85_000,
    ],
    [
      'the budget, for as long as the service asked to wait',
      files(10, 1),
      room({ closedMs: 20 * minute }),
      'request budget',
      20 * minute + 85_000,
    ],
    [
      'the budget, when there is more to do than an hour is good for',
      files(1_500, 0.001),
      {},
      'request budget',
      61 * minute + 85_000,
    ],
    ['the budget, over several hours', files(2_500, 0.001), {}, 'request budget', 122 * minute + 85_000],
    [
      'the slots, when sending takes longer than the budget',
      files(1_500, 100),
      {},
      'upload slots',
      15_000_000 + 85_000,
    ],
    [
      'the window, until it opens',
      files(100, 100),
      { mayStart: false, later: [{ inMs: 60 * minute, bandwidth: null, mayStart: true }] },
      'upload window',
      60 * minute + 1_000_000 + 85_000,
    ],
    [
      'the window, for an unknown time',
      files(100, 100),
      { bytesPerSecond: null, mayStart: false, later: [{ inMs: minute, bandwidth: null, mayStart: true }] },
      'upload window',
      null,
    ],
    ['processing, when all is sent', { processing: 5, feeds: 1 }, {}, 'processing at the service', 85_000],
    [
      'the budget, while the next question has to wait',
      { processing: 5, feeds: 1 },
      { latePoll: { inMs: 9 * minute, everyMs: 10 * minute } },
      'request budget',
      9 * minute + 10_000,
    ],
    [
      'the budget, when only a later question finds the video ready',
      { processing: 5, feeds: 1 },
      { processingMs: 5 * minute, latePoll: { inMs: minute, everyMs: 10 * minute } },
      'request budget',
      11 * minute + 10_000,
    ],
    [
      'the line and not the budget, when sending takes longer',
      files(4, 1_000),
      { latePoll: { inMs: minute, everyMs: 2 * minute } },
      'upload bandwidth',
      9 * minute + 10_000,
    ],
    [
      'the line, when sending takes less but no video is processed yet',
      files(1, 100),
      {},
      'upload bandwidth',
      10_000 + 85_000,
    ],
    [
      'processing, when sending takes less and a video is processed',
      withProcessed(1, 100),
      {},
      'processing at the service',
      10_000 + 85_000,
    ],
    [
      'nothing, when a file waits for its next try and no byte leaves',
      files(1, 1),
      { bytesPerSecond: null },
      'nothing',
      null,
    ],
    ['the quiet before a publish, when all is ready', { toPublish: 5, feeds: 1 }, {}, 'publish quiet', 10_000],
    [
      'the budget, when it has no room for a publish',
      { toPublish: 5, feeds: 1 },
      room({ left: 0, frees: [[minute, 5]] }),
      'request budget',
      minute + 10_000,
    ],
  ];
  test.for(table)('%s', ([, backlog, other, limitedBy, doneInMs]) => {
    expect(estimate({ ...nothing, ...backlog }, { ...pace, ...other })).toMatchObject({ limitedBy, doneInMs });
  });

  test('a pause, whatever waits, and the end is unknown', () => {
    for (const waiting of [files(10, 1), { processing: 1 }, { toPublish: 1, feeds: 1 }])
      expect(estimate({ ...nothing, ...waiting }, pace, true)).toMatchObject({ limitedBy: 'pause', doneInMs: null });
    expect(estimate(nothing, pace, true).limitedBy).toBe('nothing');
  });
});

describe('requests', () => {
  test('are one for each file, a publish for each feed, and few questions', () => {
    expect(estimate({ ...nothing, ...files(900, 1) }, pace).requests).toBeLessThanOrEqual(900 * 1.02);
    expect(estimate({ ...nothing, ...files(1, 1) }, pace).requests).toBeGreaterThanOrEqual(3);
    expect(estimate({ ...nothing, toPublish: 50, feeds: 2 }, pace).requests).toBe(2);
  });
});

const anyBacklog = fc.record({
  toCreate: fc.nat(5_000),
  toSend: fc.nat(5_000),
  bytesToSend: fc.nat(1_000 * MB),
  processing: fc.nat(5_000),
  toPublish: fc.nat(5_000),
  feeds: fc.nat(3),
});

test('more to do is never done earlier, and all ends', () => {
  fc.assert(
    fc.property(anyBacklog, anyBacklog, fc.nat(1_000), (one, more, left) => {
      const at = { ...pace, room: { ...open, left, frees: [[30 * minute, 1_000 - left] as const] } };
      const both = {
        toCreate: one.toCreate + more.toCreate,
        toSend: one.toSend + more.toSend,
        bytesToSend: one.bytesToSend + more.bytesToSend,
        processing: one.processing + more.processing,
        toPublish: one.toPublish + more.toPublish,
        feeds: one.feeds + more.feeds,
      };
      const [first, all] = [estimate(one, at), estimate(both, at)];
      expect(all.doneInMs ?? Number.NaN).toBeGreaterThanOrEqual(first.doneInMs ?? Number.NaN);
      expect(all.doneInMs).toBeLessThan(1_000 * 61 * minute);
    }),
  );
});

describe('sending', () => {
  const hour = 60 * minute;
  const from = (inMs: number, bandwidth: number | null, mayStart = true) => ({ inMs, bandwidth, mayStart });
  const closed: Partial<Pace> = { mayStart: false, later: [from(2 * hour, null)] };
  /** Open for an hour of each day; now it closes. */
  const anHourADay: Partial<Pace> = {
    later: [from(hour, null, false), from(24 * hour, null), from(25 * hour, null, false), from(48 * hour, null)],
  };
  test.for<[string, number, Partial<Pace>, number | null]>([
    ['takes its time', 600 * MB, {}, minute],
    ['takes no time without bytes', 0, { bytesPerSecond: null }, 0],
    ['is not known before anything was measured', 1, { bytesPerSecond: null }, null],
    ['is not known while nothing moves', 1, { bytesPerSecond: 0 }, null],
    ['that takes years is not known', 1_000_000_000 * MB, {}, null],
    ['gets slower with the timetable', 1_200 * MB, { later: [from(minute, 1 * MB)] }, 11 * minute],
    [
      'gets faster with the timetable, up to what was measured',
      660 * MB,
      { bandwidth: 1 * MB, later: [from(minute, 20 * MB)] },
      2 * minute,
    ],
    ['waits until the window opens', 600 * MB, closed, 2 * hour + minute],
    ['waits until the window opens, without bytes too', 0, { ...closed, bytesPerSecond: null }, 2 * hour],
    ['continues as long as the window is open', 36_000 * MB, anHourADay, hour],
    ['continues in the next window', 36_600 * MB, anHourADay, 24 * hour + minute],
    ['continues in the windows of all days', 10 * 36_000 * MB + 600 * MB, anHourADay, 10 * 24 * hour + minute],
    [
      'that has begun continues while the window is closed',
      36_600 * MB,
      begun({ ...pace, ...anHourADay }),
      hour + minute,
    ],
  ])('%s', ([, bytes, other, ms]) => {
    expect(sendingMs(bytes, { ...pace, ...other })).toBe(ms);
  });
});

describe('an upload is done', () => {
  const half = { bytesLeft: 600 * MB, bytesPerSecond: 5 * MB };
  test.for<[string, typeof half | { bytesLeft: number; bytesPerSecond: null }, Partial<Pace>, number | null]>([
    ['at its own speed', half, {}, 2 * minute],
    [
      'later, when the timetable gets slower: it keeps its share',
      half,
      { later: [{ inMs: minute, bandwidth: MB, mayStart: true }] },
      11 * minute,
    ],
    [
      'at the same time, when the window closes',
      half,
      { later: [{ inMs: 1, bandwidth: null, mayStart: false }] },
      2 * minute,
    ],
    ['at once, when all is sent', { bytesLeft: 0, bytesPerSecond: null }, {}, 0],
    ['unknown, in the first second', { ...half, bytesPerSecond: null }, {}, null],
    ['unknown, while it stalls', { ...half, bytesPerSecond: 0 }, {}, null],
    ['unknown, at a speed of years', { ...half, bytesPerSecond: 1e-9 }, {}, null],
  ])('%s', ([, upload, other, ms]) => {
    expect(uploadedInMs(upload.bytesLeft, upload.bytesPerSecond, { ...pace, ...other })).toBe(ms);
  });
});

describe('a file that waits starts', () => {
  const none = { creates: 0, files: 0, bytes: 0 };
  const busy = [300 * MB, 900 * MB];
  const closed = { mayStart: false, later: [{ inMs: 60 * minute, bandwidth: null, mayStart: true }] };
  test.for<[string, typeof none, readonly number[], Partial<Pace>, number | null]>([
    ['when the first upload is done', none, busy, {}, minute],
    ['after those before it', { ...none, files: 3, bytes: 900 * MB }, busy, {}, 2.5 * minute],
    ['at once, when a slot is free', none, busy.slice(1), {}, 0],
    ['when the window opens', none, [], closed, 60 * minute],
    ['then too when the speed is not known', none, [], { ...closed, bytesPerSecond: null }, 60 * minute],
    ['after those before it, once the window opens', { ...none, files: 2, bytes: 600 * MB }, [], closed, 61 * minute],
    [
      'when the budget has room for its record and those before it',
      { ...none, creates: 5 },
      [],
      { room: { ...open, left: 3, frees: [[30 * minute, 9]] } },
      30 * minute,
    ],
    ['when the service asks again', { ...none, creates: 1 }, [], { room: { ...open, closedMs: 5_000 } }, 5_000],
    ['unknown, before anything was measured', none, busy, { bytesPerSecond: null }, null],
    ['unknown, while the files ahead of it stall', none, busy, { bytesPerSecond: 0 }, null],
  ])('%s', ([, ahead, uploads, other, ms]) => {
    expect(startsInMs(ahead, uploads, { ...pace, slots: 2, ...other })).toBe(ms);
  });

  test('never at a time that is no number', () => {
    const speed = fc.option(fc.constantFrom(0, 1e-9, 1, 5 * MB, 1e15));
    const ahead = fc.record({ creates: fc.nat(3_000), files: fc.nat(3_000), bytes: fc.nat() });
    fc.assert(
      fc.property(ahead, fc.array(fc.nat(), { maxLength: 4 }), speed, (before, uploads, bytesPerSecond) => {
        const at = startsInMs(before, uploads, { ...pace, bytesPerSecond });
        if (at !== null) expect(at).toBeGreaterThanOrEqual(0);
        for (const left of uploads) expect(uploadedInMs(left, bytesPerSecond, pace) ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('files ahead of one', () => {
  const line = (other: Partial<Line>): Line => ({
    state: 'queued',
    priority: 'normal',
    isBig: false,
    isUrgent: false,
    folder: '/a',
    files: 10,
    bytes: 10 * MB,
    ...other,
  });
  const place: QueuePosition = {
    state: 'queued',
    priority: 'normal',
    isBig: false,
    isUrgent: false,
    folder: '/a',
    before: 3,
  };

  test('are those of its own queue', () => {
    expect(filesAhead(place, [line({})])).toEqual({ creates: 4, files: 3, bytes: 3 * MB });
  });

  test('are all that have a record, when it has none', () => {
    const awaiting = line({ state: 'awaiting upload', folder: '/b', files: 4, bytes: 40 * MB });
    expect(filesAhead(place, [line({}), awaiting])).toEqual({ creates: 4, files: 7, bytes: 43 * MB });
    expect(filesAhead({ ...place, state: 'awaiting upload' }, [line({}), line({ state: 'awaiting upload' })])).toEqual({
      creates: 0,
      files: 3,
      bytes: 3 * MB,
    });
  });

  test('are all that were put first or have a deadline', () => {
    const due = line({ isUrgent: true, priority: 'low', files: 5, bytes: 5 * MB });
    expect(filesAhead(place, [line({}), due]).files).toBe(3 + 5);
  });

  test('are all that are more urgent, and of another folder as many as of its own', () => {
    const others = [line({ priority: 'high' }), line({ priority: 'low' }), line({ folder: '/b' })];
    expect(filesAhead(place, [line({}), ...others]).files).toBe(3 + 10 + 4);
  });
});
