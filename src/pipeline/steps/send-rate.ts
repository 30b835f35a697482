import type { Clock } from '../file/ports.ts';

/** How fast all uploads together are, while at least one is under way. */
export interface SendRate {
  began(): void;
  sent(bytes: number): void;
  /** No upload is under way any more. */
  paused(): void;
  /** Bytes per second; null until something was measured. */
  perSecond(): number | null;
}

/** Bytes come in bursts: what is shorter says nothing. */
const spanMs = 5_000;

/** Less than a span is better than nothing, but not much less. */
const leastMs = 500;

/** The newest span counts for this share, so that a change of the line shows within half a minute. */
const newest = 0.4;

export function createSendRate(clock: Clock): SendRate {
  let bytes = 0;
  let activeMs = 0;
  let since: number | null = null;
  let rate: number | null = null;

  const passed = (): number => {
    const now = clock.elapsed();
    if (since !== null) activeMs += now - since;
    if (since !== null) since = now;
    return activeMs;
  };

  const measured = (): number => (1_000 * bytes) / activeMs;

  const close = (): void => {
    if (passed() < spanMs) return;
    rate = rate === null ? measured() : (1 - newest) * rate + newest * measured();
    bytes = 0;
    activeMs = 0;
  };

  return {
    began: () => {
      since ??= clock.elapsed();
    },
    sent: (more) => {
      bytes += more;
      close();
    },
    paused: () => {
      close();
      since = null;
    },
    perSecond: () => {
      close();
      return rate ?? (passed() >= leastMs && bytes > 0 ? measured() : null);
    },
  };
}
