import { describe } from 'vitest';

/**
 * A group of tests that share one daemon: they run one after another, while other groups of the file run at the same time.
 * Most of an end-to-end test is waiting.
 */
export function alongside(name: string, tests: () => void): void {
  describe.concurrent(name, () => {
    describe('one after another', { concurrent: false }, tests);
  });
}
