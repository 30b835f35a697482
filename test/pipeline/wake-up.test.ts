import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWakeUp } from '../../src/pipeline/wake-up.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a ring ends the sleep, and its timer', async () => {
  const wakeUp = createWakeUp();
  const slept = wakeUp.wait(3_600_000);
  wakeUp.ring();
  await slept;
  expect(vi.getTimerCount()).toBe(0);
});

test('a ring before the sleep is not missed, and counts once', async () => {
  const wakeUp = createWakeUp();
  wakeUp.ring();
  await wakeUp.wait(3_600_000);
  let isAwake = false;
  const slept = wakeUp.wait(20).then(() => {
    isAwake = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isAwake).toBe(false);
  vi.advanceTimersByTime(20);
  await slept;
});

test('timers and sockets get their turn even when it never stops ringing', async () => {
  const wakeUp = createWakeUp();
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  for (let rings = 0; rings < 3; rings += 1) {
    wakeUp.ring();
    await wakeUp.wait(3_600_000);
  }
  expect(hasTurned).toBe(true);
});
