// @dropcast/sandbox/vitest

import type { SandboxOptions } from '../options.ts';
import type { Sandbox } from '../sandbox.ts';
import { startForTests } from './use-sandbox.ts';

/** For `test.extend`. Written without Vitest's own types, so that the package does not depend on it. */
export interface SandboxFixtures {
  /**
   * Started for the first test of the worker that uses it, reset after each test that does, and closed with the worker.
   */
  readonly sandbox: (context: object, use: Use) => Promise<void>;
}

type Use = (sandbox: Sandbox) => Promise<void>;

/**
 * Gives tests a `sandbox`: `export const test = base.extend(sandboxFixtures())`, once, in a file that the tests import.
 * Tests that run at the same time in one worker (`test.concurrent`) share it, so the reset of one would hit the others:
 * start one in each of those.
 *
 * @param options as of `startSandbox`; `processingMs` is 0 unless it is given, so that no test waits for a video to be
 *   ready
 */
export function sandboxFixtures(options: SandboxOptions = {}): SandboxFixtures {
  const fixtures = {
    sandboxOfWorker: [
      // oxlint-disable-next-line no-empty-pattern -- Vitest reads in the source what a fixture uses: nothing
      async ({}, use: Use) => {
        await using sandbox = await startForTests(options);
        await use(sandbox);
      },
      { scope: 'worker' },
    ],
    sandbox: async ({ sandboxOfWorker }: { readonly sandboxOfWorker: Sandbox }, use: Use) => {
      await use(sandboxOfWorker);
      await sandboxOfWorker.reset();
    },
  };
  // Vitest's `extend` could not infer the tuple; no test needs that fixture.
  return fixtures as SandboxFixtures;
}
