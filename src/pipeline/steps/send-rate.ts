import type { Clock } from '../file/ports.ts';

/** How fast something goes on while at least one upload is under way. */
export interface SendRate {
  began(): void;
  add(amount: number): void;
  /** No upload is under way any more. */
  paused(): void;
  /** Per second; null until something was measured. */
  perSecond(): number | null;
}

/** Less than a span is better than nothing, but not much less. */
const leastShare = 0.1;

/** The newest span counts for this share, so that a change shows within a few of them. */
const newest = 0.4;

/** @param spanMs what is shorter says nothing: bytes and files come in bursts */
export function createSendRate(clock: Clock, spanMs: number): SendRate {
  let amount = 0;
  let activeMs = 0;
  let since: number | null = null;
  let rate: number | null = null;

  const passed = (): number => {
    const now = clock.elapsed();
    if (since !== null) {
      activeMs += now - since;
      since = now;
    }
    return activeMs;
  };

  const measured = (): number => (1_000 * amount) / activeMs;

  const close = (): void => {
    if (passed() < spanMs) return;
    // Nobody may have asked for many spans.
    const older = (1 - newest) ** Math.floor(activeMs / spanMs);
    rate = rate === null ? measured() : older * rate + (1 - older) * measured();
    amount = 0;
    activeMs = 0;
  };

  return {
    began: () => {
      since ??= clock.elapsed();
    },
    add: (more) => {
      amount += more;
      close();
    },
    paused: () => {
      close();
      since = null;
    },
    perSecond: () => {
      close();
      return rate ?? (passed() >= leastShare * spanMs && amount > 0 ? measured() : null);
    },
  };
}
