import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { StallWatch } from '../../../packages/client/src/upload/stall-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const hour = 3_600_000;

describe('the stall watch', () => {
  test.each([
    ['sending', 'upload_stalled'],
    ['awaitingAnswer', 'no_answer'],
  ] as const)('fires once, after the time of its last %s', (arm, code) => {
    const onStall = vi.fn();
    using watch = new StallWatch('https://host', onStall);
    watch[arm](1_000);
    vi.advanceTimersByTime(900);
    watch[arm](1_000);
    vi.advanceTimersByTime(900);
    expect(onStall).not.toHaveBeenCalled();
    vi.advanceTimersByTime(hour);
    expect(onStall).toHaveBeenCalledOnce();
    expect(watch.error).toMatchObject({ code });
  });

  test('does not fire while it pauses', () => {
    const onStall = vi.fn();
    using watch = new StallWatch('https://host', onStall);
    watch.sending(1_000);
    watch.pause();
    vi.advanceTimersByTime(hour);
    expect(onStall).not.toHaveBeenCalled();
  });

  // A body that still reports a part, or ends a hold, after the upload has ended.
  test.each(['sending', 'awaitingAnswer'] as const)('arms nothing when %s is called after its end', (arm) => {
    const onStall = vi.fn();
    const watch = new StallWatch('https://host', onStall);
    watch.sending(1_000);
    watch[Symbol.dispose]();
    watch[arm](1_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
