import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { RootState } from '../../src/watch/ports.ts';
import type { RootVerdict } from '../../src/watch/root-check.ts';
import { Root } from '../../src/watch/root.ts';
import { TakenFiles } from '../../src/watch/taken-files.ts';
import { recordingLogger, silentLogger } from '../pipeline/silent-logger.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { mountShare } from '../support/share.ts';
import { eventually } from '../support/until.ts';
import { FakeClock } from './fake-clock.ts';
import { WatchedDirectory, deaf, fastClock } from './watched-directory.ts';
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
      trustNext: () => undefined,
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

test('a folder whose file system does not answer is frozen, not queried until it does, and then scanned', async () => {
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
  await root.suspect({ before: [], lost: 20, there: 0 });
  answers.at(-1)?.({ isSound: true });
  expect(await offer).toBe(false);
  expect(await root.isSound()).toBe(false);
});

test(
  'a scan that no longer gets an answer freezes its folder, which resumes when it does',
  needs('mount', 'bindfs'),
  async () => {
    await using base = await scratchDirectory();
    const [behind, path] = [base.file('behind'), base.file('inbox')];
    for (const directory of [behind, path]) await mkdir(directory);
    await writeFile(join(behind, 'a.mp4'), 'content');
    await using share = await mountShare(behind, path);
    const clock = new FakeClock();
    let hang = (): void => undefined;
    // Between the list of the files and the look at them.
    const accepts = (): 'media' => {
      hang();
      return 'media';
    };
    await using inbox = await WatchedDirectory.create({ folder: { path, accepts }, clock, openEvents: deaf });
    await inbox.watcher.rescan();
    expect(inbox.states.at(-1)?.state).toBe('watching');

    await writeFile(join(behind, 'b.mp4'), 'content');
    hang = () => share.hang();
    const scan = inbox.watcher.rescan();
    await eventually('the scan has begun to look', () => expect(inbox.watcher.visited()).toBe(2));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    clock.advance(15_000);
    await vi.advanceTimersByTimeAsync(15_000);
    vi.useRealTimers();
    expect(inbox.states.at(-1)).toMatchObject({
      state: 'frozen',
      why: expect.stringContaining('does not answer'),
      isOffLimits: true,
    });

    hang = () => undefined;
    share.answer();
    await scan;
    await eventually('it goes on', () => expect(inbox.states.at(-1)?.state).toBe('watching'));
    expect(inbox.gone).toEqual([]);
  },
);

test('files that settle at the same moment share one look at their folder', async () => {
  await using scratch = await scratchDirectory();
  const clock = new FakeClock();
  let looks = 0;
  const root = new Root({
    path: scratch.path,
    clock,
    inventory: { taken: new Map() },
    claim: {
      hold: async () => {
        looks += 1;
        return { isSound: true };
      },
      trustNext: () => undefined,
      mark: async () => null,
    },
    roots: noRoots,
    logger: silentLogger,
    signal: new AbortController().signal,
    gap: () => null,
    note: () => null,
    changed: () => undefined,
    scanSoon: () => undefined,
  });
  await root.begin(new Set(), new Map());
  looks = 0;
  const answers = await Promise.all(Array.from({ length: 100 }, () => root.isSound()));
  expect(new Set(answers)).toEqual(new Set([true]));
  expect(looks).toBe(1);
  clock.advance(1_000);
  await root.isSound();
  expect(looks).toBe(2);
});
