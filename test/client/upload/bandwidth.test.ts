import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { createBandwidth } from '../../../packages/client/src/upload/bandwidth.ts';
import type { Bandwidth } from '../../../packages/client/src/upload/bandwidth.ts';
import { AbortedError } from '../../../packages/client/src/errors.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Takes pieces one after the other and counts what it got. */
function consumer(bandwidth: Bandwidth, pieceBytes: number) {
  const got = { bytes: 0 };
  void (async () => {
    for (let i = 0; i < 100_000; i++) {
      await bandwidth.take(pieceBytes);
      got.bytes += pieceBytes;
    }
  })();
  return got;
}

describe('the bandwidth limit', () => {
  test('holds over time, and is shared evenly', async () => {
    const bandwidth = createBandwidth(1_000_000);
    const one = consumer(bandwidth, 10_000);
    const two = consumer(bandwidth, 10_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(one.bytes + two.bytes).toBeGreaterThan(9_900_000);
    expect(one.bytes + two.bytes).toBeLessThan(10_100_000);
    expect(Math.abs(one.bytes - two.bytes)).toBeLessThanOrEqual(10_000);
  });

  test.each([0, -1, Number.NaN])('is not %d bytes per second: uploads would hang, or know no limit', (wrong) => {
    expect(() => createBandwidth(wrong)).toThrow(TypeError);
    const bandwidth = createBandwidth(1000);
    expect(() => bandwidth.set(wrong)).toThrow(/^bytesPerSecond must be more than 0, or null/);
    expect(bandwidth.isLimited).toBe(true);
  });

  test('gives at most 50 ms of credit after a pause', async () => {
    const bandwidth = createBandwidth(1_000_000);
    await vi.advanceTimersByTimeAsync(60_000);
    const got = consumer(bandwidth, 1000);
    await vi.advanceTimersByTimeAsync(0);
    expect(got.bytes).toBeLessThanOrEqual(52_000);
  });

  test('a changed rate counts at once, also for those who wait', async () => {
    const bandwidth = createBandwidth(1000);
    await bandwidth.take(100_000);
    let isLetGo = false;
    void bandwidth.take(1).then(() => (isLetGo = true));
    await vi.advanceTimersByTimeAsync(1000);
    expect(isLetGo).toBe(false);
    bandwidth.set(1_000_000);
    await vi.advanceTimersByTimeAsync(100);
    expect(isLetGo).toBe(true);
    await bandwidth.take(10_000_000);
    // No await between the counts: work that another file left behind may set timers of its own.
    const timers = vi.getTimerCount();
    const waiting = bandwidth.take(1);
    expect(vi.getTimerCount()).toBe(timers + 1);
    bandwidth.set(null);
    expect(vi.getTimerCount()).toBe(timers);
    await expect(waiting).resolves.toBeUndefined();
  });

  test('a piece that takes months is not let through at once', async () => {
    const bandwidth = createBandwidth(1);
    await bandwidth.take(2 ** 32);
    let isLetGo = false;
    void bandwidth.take(1).then(() => (isLetGo = true));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(isLetGo).toBe(false);
  });

  test('an aborted upload leaves the queue, without a timer', async () => {
    const bandwidth = createBandwidth(10);
    await bandwidth.take(10_000);
    const stop = new AbortController();
    const timers = vi.getTimerCount();
    const waiting = bandwidth.take(1, stop.signal);
    expect(vi.getTimerCount()).toBe(timers + 1);
    stop.abort();
    expect(vi.getTimerCount()).toBe(timers);
    await expect(waiting).rejects.toThrow(AbortedError);
    await expect(bandwidth.take(1, stop.signal)).rejects.toThrow(AbortedError);
    expect(vi.getTimerCount()).toBe(timers);
  });
});
