import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadline } from '../../packages/client/src/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a deadline fires after its time', () => {
  using deadline = new Deadline(1000);
  vi.advanceTimersByTime(999);
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.signal.aborted).toBe(true);
});

test('one that is disposed of leaves no timer, which would keep the process alive for the rest of its time', () => {
  {
    using deadline = new Deadline(3_600_000);
    expect(deadline.signal.aborted).toBe(false);
    expect(vi.getTimerCount()).toBe(1);
  }
  expect(vi.getTimerCount()).toBe(0);
});
