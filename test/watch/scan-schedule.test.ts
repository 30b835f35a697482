import { expect, test } from 'vitest';
import { ScanSchedule } from '../../src/watch/scan-schedule.ts';
import { FakeClock } from './fake-clock.ts';

const minute = 60_000;

/** A schedule whose scans each take so long on the fake clock. */
function open({ tookMs = 0, ms = minute, isUrgent = false, isOnlySource = false } = {}) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const depths: string[] = [];
  const schedule: ScanSchedule = new ScanSchedule({
    clock,
    signal: stop.signal,
    interval: () => ({ ms, isUrgent }),
    scan: async () => {
      depths.push(schedule.takeDepth(isOnlySource));
      clock.advance(tookMs);
    },
  });
  const pass = async (passedMs: number): Promise<void> => {
    clock.advance(passedMs);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, stop, depths, schedule, pass };
}

test('the first scan and every eighth after it are deep', async () => {
  const { schedule, depths, pass } = open();
  await schedule.now();
  for (let n = 0; n < 16; n += 1) await pass(1.25 * minute);
  const seven = Array.from({ length: 7 }, () => 'names');
  expect(depths).toEqual(['deep', ...seven, 'deep', ...seven, 'deep']);
});

test('where scans are the only source every one is deep', async () => {
  const { schedule, depths, pass } = open({ isOnlySource: true });
  await schedule.now();
  for (let n = 0; n < 3; n += 1) await pass(1.25 * minute);
  expect(depths).toEqual(['deep', 'deep', 'deep', 'deep']);
});

test('a request during a scan causes one more, begun after it, and deep', async () => {
  const { schedule, depths } = open();
  const first = schedule.now();
  await Promise.resolve();
  await Promise.all([first, schedule.now(), schedule.now(), schedule.now()]);
  expect(depths).toEqual(['deep', 'deep']);
});

test.for([
  { name: 'usual scans come at their interval, however long they take', isUrgent: false, leastMs: 0.75 * minute },
  { name: 'urgent ones take at most a twentieth of the time', isUrgent: true, leastMs: 0.75 * 10 * minute },
])('$name', async ({ isUrgent, leastMs }) => {
  const { schedule, depths, pass } = open({ tookMs: 30_000, isUrgent });
  await schedule.now();
  await pass(leastMs - 1);
  expect(depths).toHaveLength(1);
  await pass((leastMs * 1.25) / 0.75);
  expect(depths).toHaveLength(2);
});

test('closed, it no longer scans', async () => {
  const { schedule, clock, stop, depths, pass } = open();
  await schedule.now();
  stop.abort();
  schedule.soon();
  await schedule[Symbol.asyncDispose]();
  await pass(10 * minute);
  expect([depths.length, clock.timers]).toEqual([1, 0]);
});

test('tells when it scanned, how long that took, and when it scans next', async () => {
  const { schedule, clock, pass } = open({ tookMs: 2_000 });
  expect(schedule.times()).toEqual({ isScanning: false, endedMsAgo: null, tookMs: null, nextInMs: null });
  await schedule.now();
  await pass(10_000);
  const [delay = 0] = clock.delays();
  expect(schedule.times()).toEqual({ isScanning: false, endedMsAgo: 10_000, tookMs: 2_000, nextInMs: delay });
  expect(delay).toBeGreaterThan(0);
});

test('during a scan it tells so, and of no next one', async () => {
  const scan = Promise.withResolvers<void>();
  const schedule = new ScanSchedule({
    clock: new FakeClock(),
    signal: new AbortController().signal,
    interval: () => ({ ms: minute, isUrgent: false }),
    scan: () => scan.promise,
  });
  const first = schedule.now();
  await Promise.resolve();
  expect(schedule.times()).toMatchObject({ isScanning: true, nextInMs: null });
  scan.resolve();
  await first;
  expect(schedule.times().isScanning).toBe(false);
});
