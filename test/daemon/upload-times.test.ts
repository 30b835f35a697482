import { createBandwidth } from '@dropcast/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseBandwidthHours } from '../../src/config/bandwidth-hours.ts';
import type { Config } from '../../src/config/config.ts';
import { parseUploadWindow } from '../../src/config/day-window.ts';
import { keepLimit, periodAt, uploadTimes } from '../../src/daemon/upload-times.ts';

const zone = process.env['TZ'];
beforeEach(() => {
  process.env['TZ'] = 'Europe/Berlin';
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const clock = { now: () => Date.now(), elapsed: () => performance.now() };
const minute = 60_000;

function uploads(bandwidth: unknown, window = 'always'): Config['uploads'] {
  const hours = parseBandwidthHours(bandwidth);
  const open = parseUploadWindow(window);
  if (!hours.ok || !open.ok) return expect.fail('cannot be read');
  return {
    concurrency: 4,
    isAuto: false,
    bandwidth: hours.value,
    window: open.value,
    stallTimeoutMs: 60_000,
    headers: {},
    contentType: 'auto',
    maxSizeBytes: Infinity,
    protocol: 'auto' as const,
  };
}

/** A limit that is kept, and how many bytes one upload gets with it. */
function kept(configured: Config['uploads']) {
  let config = configured;
  const bandwidth = createBandwidth(null);
  const times = uploadTimes(() => config, clock);
  const limit = keepLimit(bandwidth, times, clock);
  const got = { bytes: 0 };
  const stop = new AbortController();
  const taking = async (): Promise<void> => {
    while (bandwidth.isLimited) {
      await bandwidth.take(1_000, stop.signal);
      got.bytes += 1_000;
    }
  };
  return {
    bandwidth,
    times,
    got,
    /** An upload is under way from here on. */
    take: () => void taking().catch(() => {}),
    reload: (next: Config['uploads']) => {
      config = next;
      limit.update();
    },
    [Symbol.dispose]: () => {
      stop.abort();
      limit[Symbol.dispose]();
    },
  };
}

describe('the limit by the time of day', () => {
  const day = uploads({ '08:00-18:00': '1MB/s', otherwise: 'unlimited' });

  test('begins and ends at the minute', async () => {
    vi.setSystemTime(new Date(2026, 5, 10, 7, 58, 30));
    using limit = kept(day);
    await vi.advanceTimersByTimeAsync(1.5 * minute - 1);
    expect(limit.bandwidth.isLimited).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(limit.bandwidth.isLimited).toBe(true);
    await vi.advanceTimersByTimeAsync(600 * minute - 1);
    expect(limit.bandwidth.isLimited).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(limit.bandwidth.isLimited).toBe(false);
  });

  test('takes effect on an upload that runs', async () => {
    vi.setSystemTime(new Date(2026, 5, 10, 17, 59));
    using limit = kept(uploads({ '08:00-18:00': '1MB/s', otherwise: '10kB/s' }));
    limit.take();
    await vi.advanceTimersByTimeAsync(minute);
    const fast = limit.got.bytes;
    expect(fast / 60).toBeGreaterThan(990_000);
    await vi.advanceTimersByTimeAsync(minute);
    expect((limit.got.bytes - fast) / 60).toBeLessThan(11_000);
  });

  test('is another one after a reload, at once, and also for an upload that waits', async () => {
    vi.setSystemTime(new Date(2026, 5, 10, 12, 0, 10));
    using limit = kept(uploads('1kB/s'));
    limit.take();
    await vi.advanceTimersByTimeAsync(1_000);
    const slow = limit.got.bytes;
    limit.reload(uploads({ '08:00-18:00': '1MB/s', otherwise: 'unlimited' }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(limit.got.bytes - slow).toBeGreaterThan(900_000);
    limit.reload(uploads('unlimited'));
    expect(limit.bandwidth.isLimited).toBe(false);
  });

  test.each([
    ['forward', '2026-06-10T05:00:00Z', '2026-06-10T10:00:00Z', true],
    ['back', '2026-06-10T10:00:00Z', '2026-06-10T02:00:00Z', false],
    ['by years', '2026-06-10T05:00:00Z', '2036-06-10T10:00:00Z', true],
  ])('is right a minute after the clock was set %s', async (_, from, to, isLimited) => {
    vi.setSystemTime(from);
    using limit = kept(day);
    vi.setSystemTime(to);
    await vi.advanceTimersByTimeAsync(minute);
    expect(limit.bandwidth.isLimited).toBe(isLimited);
  });

  // 29 March 2026: 02:00 becomes 03:00. 25 October 2026: 03:00 becomes 02:00.
  test.each([
    ['2026-03-29T00:00:00Z', '01:30-03:30', ['01:30', '03:29'], 60],
    ['2026-10-25T00:00:00Z', '02:30-03:30', ['02:30', '02:59', '02:30', '02:59', '03:29'], 90],
  ])('follows the clock on the wall on %s', async (from, window, edges, minutes) => {
    vi.setSystemTime(from);
    using limit = kept(uploads({ [window]: '1MB/s', otherwise: 'unlimited' }));
    const limited: string[] = [];
    for (let n = 0; n < 180; n += 1) {
      if (limit.bandwidth.isLimited) limited.push(new Date().toTimeString().slice(0, 5));
      await vi.advanceTimersByTimeAsync(minute);
    }
    expect(limited).toHaveLength(minutes);
    const found = limited.filter(
      (time, index) => index === 0 || index === limited.length - 1 || edges.slice(1, -1).includes(time),
    );
    expect(found).toEqual(edges);
  });

  test('leaves no timer', () => {
    const limit = kept(day);
    expect(vi.getTimerCount()).toBe(1);
    limit[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is shown, with the time at which it ends', () => {
    vi.setSystemTime(new Date(2026, 5, 10, 12));
    using limit = kept(day);
    expect(limit.times.limit()).toBe(1_000_000);
    expect(limit.times.limitUntil()).toBe(new Date(2026, 5, 10, 18).getTime());
  });
});

describe('the time at which uploads start', () => {
  test('is none while they may, and the next opening otherwise', () => {
    let config = uploads('unlimited', '20:00-06:00');
    const times = uploadTimes(() => config, clock);
    vi.setSystemTime(new Date(2026, 5, 10, 5, 59, 59));
    expect([times.mayStart(), times.startAt()]).toEqual([true, null]);
    vi.setSystemTime(new Date(2026, 5, 10, 6));
    expect([times.mayStart(), times.startAt()]).toEqual([false, new Date(2026, 5, 10, 20).getTime()]);
    // Set back, set forward, and after a reload.
    vi.setSystemTime(new Date(2026, 5, 9, 12));
    expect(times.startAt()).toBe(new Date(2026, 5, 9, 20).getTime());
    vi.setSystemTime(new Date(2027, 0, 1, 12));
    expect(times.startAt()).toBe(new Date(2027, 0, 1, 20).getTime());
    config = uploads('unlimited', '13:00-14:00');
    expect(times.startAt()).toBe(new Date(2027, 0, 1, 13).getTime());
    config = uploads('unlimited');
    expect([times.mayStart(), times.startAt()]).toEqual([true, null]);
  });
});

describe('what the next two days allow', () => {
  const at = (text: string): number => Date.parse(text);
  const changes = (
    configured: Config['uploads'],
    now: string,
  ): readonly (readonly [string, number | null, boolean])[] => {
    vi.setSystemTime(now);
    const hours = uploadTimes(() => configured, clock).later();
    return hours.map(({ inMs, bandwidth, mayStart }) => [
      new Date(at(now) + inMs).toISOString().slice(0, 16),
      bandwidth,
      mayStart,
    ]);
  };

  test('is nothing new without a timetable', () => {
    expect(changes(uploads('1MB/s'), '2026-06-10T12:00:00Z')).toEqual([]);
  });

  test('is each change of limit and window, by the clock on the wall', () => {
    const both = uploads({ '08:00-18:00': '1MB/s', otherwise: 'unlimited' }, '20:00-06:00');
    expect(changes(both, '2026-06-10T12:00:30Z')).toEqual([
      ['2026-06-10T16:00', null, false],
      ['2026-06-10T18:00', null, true],
      ['2026-06-11T04:00', null, false],
      ['2026-06-11T06:00', 1_000_000, false],
      ['2026-06-11T16:00', null, false],
      ['2026-06-11T18:00', null, true],
      ['2026-06-12T04:00', null, false],
      ['2026-06-12T06:00', 1_000_000, false],
    ]);
  });

  test('follows daylight saving', () => {
    const night = uploads('unlimited', '20:00-06:00');
    expect(changes(night, '2026-10-24T10:00:00Z').map(([time]) => time)).toEqual([
      '2026-10-24T18:00',
      '2026-10-25T05:00',
      '2026-10-25T19:00',
      '2026-10-26T05:00',
    ]);
  });

  test('is another one after a reload', () => {
    vi.setSystemTime('2026-06-10T12:00:00Z');
    let configured = uploads('unlimited', '20:00-06:00');
    const times = uploadTimes(() => configured, clock);
    expect(times.later()[0]?.inMs).toBe(6 * 60 * minute);
    configured = uploads('unlimited', '21:00-06:00');
    expect(times.later()[0]?.inMs).toBe(7 * 60 * minute);
  });
});

test.each([
  ['day', 0, 'America/Los_Angeles', '2026-11-29T20:00:00Z', '2026-11-29T08:00:00Z', '2026-11-30T08:00:00Z'],
  ['day', 0, 'America/Los_Angeles', '2026-11-29T07:59:00Z', '2026-11-28T08:00:00Z', '2026-11-29T08:00:00Z'],
  // The night in which daylight saving ends has 25 hours.
  ['day', 0, 'America/Los_Angeles', '2026-11-01T12:00:00Z', '2026-11-01T07:00:00Z', '2026-11-02T08:00:00Z'],
  ['day', 6 * 60, 'UTC', '2026-11-29T05:59:59Z', '2026-11-28T06:00:00Z', '2026-11-29T06:00:00Z'],
  ['month', 0, 'UTC', '2026-02-28T23:59:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
  ['month', 9 * 60, 'Asia/Tokyo', '2026-12-31T23:00:00Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['month', 60, 'UTC', '2026-03-01T00:30:00Z', '2026-02-01T01:00:00Z', '2026-03-01T01:00:00Z'],
] as const)('a quota for a %s that resets at %i minutes in %s, at %s', (per, minutes, zone, now, since, until) => {
  expect(periodAt({ per, resets: { minutes, zone } }, Date.parse(now))).toEqual({
    since: Date.parse(since),
    until: Date.parse(until),
  });
});
