import { Cleanup } from '../cleanup.ts';
import type { SandboxOptions } from '../options.ts';
import { startSandbox, type Sandbox } from '../sandbox.ts';

/** A test runner's hooks. `node:test` and Mocha call the second one `after`. */
export interface TestHooks {
  readonly afterEach: (work: () => Promise<void>) => unknown;
  readonly afterAll: (work: () => Promise<void>) => unknown;
}

/**
 * Starts a sandbox for the tests of one file: reset after each test, closed after the last.
 *
 * @param hooks the runner's hooks, passed in so that the package depends on no runner
 * @param options as for `startSandbox`; `processingMs` defaults to 0, so that no test waits for a video to be ready
 * @throws as `startSandbox`
 */
export async function useSandbox({ afterEach, afterAll }: TestHooks, options: SandboxOptions = {}): Promise<Sandbox> {
  await using cleanup = new Cleanup(); // a runner refuses hooks inside a test
  const sandbox = cleanup.use(await startForTests(options));
  afterEach(() => sandbox.reset());
  afterAll(() => sandbox.close());
  cleanup.move();
  return sandbox;
}

/** Starts a sandbox like `startSandbox`, with `processingMs` defaulting to 0. */
export function startForTests(options: SandboxOptions): Promise<Sandbox> {
  return startSandbox({ processingMs: { min: 0, max: 0 }, ...options });
}
