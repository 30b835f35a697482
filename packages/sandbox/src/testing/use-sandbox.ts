import type { SandboxOptions } from '../options.ts';
import { startSandbox, type Sandbox } from '../sandbox.ts';

/** The hooks of a test runner: `node:test` and Mocha call the second one `after`. */
export interface TestHooks {
  readonly afterEach: (work: () => Promise<void>) => unknown;
  readonly afterAll: (work: () => Promise<void>) => unknown;
}

/**
 * A sandbox for the tests of one file: reset after each, closed after the last.
 *
 * @param hooks of the runner, so that the package depends on none
 * @param options as of `startSandbox`; `processingMs` is 0 unless it is given, so that no test waits for a video to be
 *   ready
 * @throws as `startSandbox`
 */
export async function useSandbox({ afterEach, afterAll }: TestHooks, options: SandboxOptions = {}): Promise<Sandbox> {
  await using cleanup = new AsyncDisposableStack(); // a runner refuses hooks inside a test
  const sandbox = cleanup.use(await startForTests(options));
  afterEach(() => sandbox.reset());
  afterAll(() => sandbox.close());
  cleanup.move();
  return sandbox;
}

/** As `startSandbox`, with `processingMs` 0 unless it is given. */
export function startForTests(options: SandboxOptions): Promise<Sandbox> {
  return startSandbox({ processingMs: { min: 0, max: 0 }, ...options });
}
