import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepAlive } from '../../src/systemd/notifier.ts';
import { recordingLogger } from '../pipeline/silent-logger.ts';
import { recordingNotifier } from './recording-notifier.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A working loop that turns every second until it is stopped. */
function startLoop() {
  let progressedAt = performance.now();
  const turn = (): void => {
    progressedAt = performance.now();
  };
  let timer = setInterval(turn, 1_000);
  return {
    progressedAt: () => progressedAt,
    hang: () => clearInterval(timer),
    goOn: () => {
      turn();
      timer = setInterval(turn, 1_000);
    },
  };
}

function open({ progressedAt }: Pick<ReturnType<typeof startLoop>, 'progressedAt'>) {
  const { notifier, sent } = recordingNotifier();
  const logger = recordingLogger();
  return { watchdog: keepAlive({ notifier, logger, intervalMs: 60_000, progressedAt }), sent, logger };
}

test('a running loop is reported every quarter of the interval', () => {
  const { sent, logger } = open(startLoop());
  vi.advanceTimersByTime(60 * 60_000);
  expect(sent).toHaveLength(241);
  expect(new Set(sent)).toEqual(new Set(['WATCHDOG=1']));
  expect(logger.lines).toEqual([]);
});

test('a stalled loop gets no further pings, and is logged once', () => {
  const loop = startLoop();
  const { sent, logger } = open(loop);
  vi.advanceTimersByTime(44_900);
  loop.hang();
  const before = sent.length;
  vi.advanceTimersByTime(60 * 60_000);
  expect(sent.length - before).toBeLessThanOrEqual(1);
  expect(logger.lines).toMatchObject([{ level: 'error' }]);
});

test('a loop that turns less often than it is checked is reported as often as it turns', () => {
  const loop = startLoop();
  const { notifier, sent } = recordingNotifier();
  keepAlive({ notifier, logger: recordingLogger(), intervalMs: 2_000, progressedAt: loop.progressedAt });
  vi.advanceTimersByTime(60_000);
  expect(sent.length).toBeGreaterThanOrEqual(60);
});

test('one that recovers is reported on the next check, and a second hang is reported again', () => {
  const loop = startLoop();
  const { sent, logger } = open(loop);
  vi.advanceTimersByTime(15_000);
  for (const hangs of [1, 2]) {
    loop.hang();
    const before = sent.length;
    vi.advanceTimersByTime(40_000);
    loop.goOn();
    vi.advanceTimersByTime(2_000);
    expect(sent.length - before).toBe(2);
    expect(logger.lines).toHaveLength(hangs);
    vi.advanceTimersByTime(15_000);
  }
});

test('after a pause of the whole process the check may come before the turn: that is not a stall', () => {
  const loop = startLoop();
  const { sent, logger } = open(loop);
  vi.advanceTimersByTime(14_500);
  loop.hang();
  vi.advanceTimersByTime(15_400);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 40_000);
  vi.advanceTimersByTime(200);
  loop.goOn();
  const before = sent.length;
  vi.advanceTimersByTime(2_000);
  vi.restoreAllMocks();
  expect(sent.length - before).toBe(1);
  expect(logger.lines).toEqual([]);
});

test('nothing is reported after the end', () => {
  const { sent, watchdog } = open(startLoop());
  watchdog[Symbol.dispose]();
  vi.advanceTimersByTime(60 * 60_000);
  expect(sent).toEqual(['WATCHDOG=1']);
});
