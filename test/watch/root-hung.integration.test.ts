import { afterEach, expect, test, vi } from 'vitest';
import type { RootState } from '../../src/watch/ports.ts';
import type { RootVerdict } from '../../src/watch/root-check.ts';
import { Root } from '../../src/watch/root.ts';
import { TakenFiles } from '../../src/watch/taken-files.ts';
import { recordingLogger } from '../pipeline/silent-logger.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { fastClock } from './watched-directory.ts';
import { noRoots } from './no-roots.ts';

afterEach(() => vi.useRealTimers());

test('a folder whose file system does not answer is frozen, asked no more until it does, and then scanned', async () => {
  await using scratch = await scratchDirectory();
  const states: RootState[] = [];
  const answers: ((verdict: RootVerdict) => void)[] = [];
  let scans = 0;
  const root = new Root({
    path: scratch.path,
    clock: fastClock(1),
    inventory: { taken: new TakenFiles() },
    // The last thing a look does; which of its calls hangs makes no difference.
    claim: {
      mark: async () => null,
      hold: () => {
        const { promise, resolve } = Promise.withResolvers<RootVerdict>();
        answers.push(resolve);
        return promise;
      },
    },
    roots: noRoots,
    logger: recordingLogger(),
    signal: new AbortController().signal,
    gap: () => null,
    note: () => null,
    changed: (state) => states.push(state),
    scanSoon: () => (scans += 1),
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const first = root.isScannable();
  await vi.waitUntil(() => answers.length === 1);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await first).toBe(false);
  expect(states).toMatchObject([{ state: 'frozen', why: expect.stringContaining('does not answer') }]);
  expect(await root.isScannable()).toBe(false);
  expect(await root.whyAway()).toContain('does not answer');
  expect(answers.length).toBe(1);
  scans = 0;
  answers.at(-1)?.({ isSound: true });
  await vi.waitUntil(() => scans > 0);
  const second = root.isScannable();
  await vi.waitUntil(() => answers.length === 2);
  answers.at(-1)?.({ isSound: true });
  expect(await second).toBe(true);
});
