/** A clock that nobody can set: settling must not end early because NTP or an operator moved the time. */
export interface MonotonicClock {
  /** Milliseconds since an arbitrary moment. */
  now(): number;
  /** Calls `action` once after `delayMs` (at most 2^31 - 1); the returned function takes it back. */
  after(delayMs: number, action: () => void): () => void;
}

export const systemClock: MonotonicClock = {
  now: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
};
