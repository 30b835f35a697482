import { setTimeout as wait } from 'node:timers/promises';

import { AbortedError } from './errors.ts';

/** Time and chance, as values that a test can give. */
export interface Surroundings {
  /** Monotonic, in milliseconds. */
  elapsed(): number;
  /** @param ms 0 to 2,147,483,647. @throws {AbortedError} as soon as the signal says so */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

export const realSurroundings: Surroundings = {
  elapsed: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await wait(ms, undefined, { signal });
    } catch {
      throw new AbortedError('waiting for the next attempt');
    }
  },
  random: () => Math.random(),
};
