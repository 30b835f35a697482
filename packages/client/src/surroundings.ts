import { setTimeout as wait } from 'node:timers/promises';

import { AbortedError } from './errors.ts';

/** Clock and random numbers, replaceable in tests. */
export interface Surroundings {
  /** Monotonic clock, in milliseconds. */
  elapsed(): number;
  /** @param ms 0 to 2,147,483,647. @throws {AbortedError} the signal fired */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Random number in [0, 1). */
  random(): number;
}

export const realSurroundings: Surroundings = {
  elapsed: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await wait(ms, undefined, { signal });
    } catch {
      throw new AbortedError('waiting for the next attempt', signal);
    }
  },
  random: () => Math.random(),
};
