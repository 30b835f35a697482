// @dropcast/sandbox/vitest

import '../node-version.ts';
import type { SandboxOptions } from '../options.ts';
import type { Sandbox } from '../sandbox.ts';
import { startForTests } from './use-sandbox.ts';

/** Fixtures for `test.extend`. Written without Vitest's own types, so that the package does not depend on Vitest. */
export interface SandboxFixtures {
  /** Started for the worker's first test that uses it, reset after each such test, and closed with the worker. */
  readonly sandbox: (context: object, use: Use) => Promise<void>;
}

type Use = (sandbox: Sandbox) => Promise<void>;

/**
 * Gives tests a `sandbox`. Write `export const test = base.extend(sandboxFixtures())` once, in a file that the tests
 * import. Tests that run at the same time in one worker (`test.concurrent`) share the sandbox, so one test's reset
 * would disturb the others: start a sandbox in each such test instead.
 *
 * @param options as for `startSandbox`; `processingMs` defaults to 0, so that no test waits for a video to be ready
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
  // Vitest's `extend` cannot infer the tuple type. No test needs `sandboxOfWorker` itself.
  return fixtures as SandboxFixtures;
}
