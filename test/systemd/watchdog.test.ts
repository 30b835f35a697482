import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepAlive } from '../../src/systemd/watchdog.ts';
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
  let turnedAt = performance.now();
  const turn = (): void => {
    turnedAt = performance.now();
  };
  let timer = setInterval(turn, 1_000);
  return {
    turnedAt: () => turnedAt,
    hang: () => clearInterval(timer),
    goOn: () => {
      timer = setInterval(turn, 1_000);
    },
  };
}

function open({ turnedAt }: Pick<ReturnType<typeof startLoop>, 'turnedAt'>) {
  const { notifier, sent } = recordingNotifier();
  const logger = recordingLogger();
  return { watchdog: keepAlive({ notifier, logger, intervalMs: 60_000, turnedAt }), sent, logger };
}

test('a loop that turns is told of every half of the interval', () => {
  const { sent } = open(startLoop());
  vi.advanceTimersByTime(60 * 60_000);
  expect(sent).toHaveLength(121);
  expect(new Set(sent)).toEqual(new Set(['WATCHDOG=1']));
});

test('a loop that stands still is no longer told of, from the first look after half of the interval', () => {
  const loop = startLoop();
  const { sent, logger } = open(loop);
  vi.advanceTimersByTime(45_000);
  loop.hang();
  const before = sent.length;
  vi.advanceTimersByTime(60 * 60_000);
  expect(sent.length - before).toBeLessThanOrEqual(1);
  expect(logger.lines).toMatchObject([{ level: 'error', message: 'The working loop stands still' }]);
});

test('one that comes back is told of before the interval is over', () => {
  const loop = startLoop();
  const { sent } = open(loop);
  vi.advanceTimersByTime(29_500);
  loop.hang();
  vi.advanceTimersByTime(20_000);
  expect(sent).toHaveLength(2);
  vi.advanceTimersByTime(20_000);
  loop.goOn();
  vi.advanceTimersByTime(9_000);
  expect(sent).toHaveLength(3);
});

test('nothing is told after the end', () => {
  const { sent, watchdog } = open(startLoop());
  watchdog[Symbol.dispose]();
  vi.advanceTimersByTime(60 * 60_000);
  expect(sent).toEqual(['WATCHDOG=1']);
});
