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

/** A root whose looks end only when they are told to. */
function rootOf(path: string) {
  const states: RootState[] = [];
  const answers: ((verdict: RootVerdict) => void)[] = [];
  const scans = { count: 0 };
  const root = new Root({
    path,
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
    scanSoon: () => (scans.count += 1),
  });
  return { root, states, answers, scans };
}

test('a folder whose file system does not answer is frozen, asked no more until it does, and then scanned', async () => {
  await using scratch = await scratchDirectory();
  const { root, states, answers, scans } = rootOf(scratch.path);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const first = root.isScannable();
  await vi.waitUntil(() => answers.length === 1);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await first).toBe(false);
  expect(states).toMatchObject([{ state: 'frozen', why: expect.stringContaining('does not answer') }]);
  expect(await root.isScannable()).toBe(false);
  expect(await root.whyAway()).toContain('does not answer');
  expect(answers.length).toBe(1);
  scans.count = 0;
  answers.at(-1)?.({ isSound: true });
  await vi.waitUntil(() => scans.count > 0);
  const second = root.isScannable();
  await vi.waitUntil(() => answers.length === 2);
  answers.at(-1)?.({ isSound: true });
  expect(await second).toBe(true);
});

test('a look that began before most files were missed lets no file be offered', async () => {
  await using scratch = await scratchDirectory();
  const { root, answers } = rootOf(scratch.path);
  const offer = root.isSound();
  await vi.waitUntil(() => answers.length === 1);
  await root.suspect({ before: 0, lost: 20, there: 0 });
  answers.at(-1)?.({ isSound: true });
  expect(await offer).toBe(false);
  expect(await root.isSound()).toBe(false);
});
