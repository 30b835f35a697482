import { copyFile, cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { inspectFolders } from '../../src/daemon/inspect-folders.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { startVideoHost } from '../e2e/video-host.ts';
import type { VideoHost } from '../e2e/video-host.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { until } from '../support/until.ts';
import { loadedConfig } from '../support/configuration.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';

/** A configuration with a state directory of its own and some of the folders. */
function configOf(
  scratch: ScratchDirectory,
  host: VideoHost,
  state: string,
  folders: readonly string[],
): Promise<Config> {
  const settings = {
    service: { base_url: host.baseUrl, api_key: host.key },
    state_dir: state,
    publish: { quiet: '0s', at_most: '1s' },
    folders: folders.map((path) => ({ path, rescan: '1s' })),
  };
  return loadedConfig(scratch, settings, `${state}.yaml`);
}

async function makeFolders(...names: readonly string[]): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  for (const name of names) await mkdir(scratch.file(name), { recursive: true });
  return scratch;
}

const isDone = async (daemon: Daemon, path: string): Promise<boolean> =>
  (await daemon.ledger.rows({ group: 'any', limit: 100 })).some(
    (facts) => facts.path === path && stateOf(facts) === 'done',
  );

const bodies = (host: VideoHost): readonly string[] =>
  [...host.videos.values()].flatMap(({ title, bodies }) => bodies.map(() => title)).toSorted();

const state = (daemon: Daemon, path: string) => daemon.folders.status().find((folder) => folder.path === path);

test('two state directories on one folder: the second leaves it alone, works on its others, and takes it over once the first is purged', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeFolders('inbox', 'other');
  await writeFile(scratch.file('inbox/shared.mpg'), 'uploaded once');
  const first = await startDaemon(await configOf(scratch, host, 'one', ['inbox']), silentLogger);
  await until('the first has sent it', () => isDone(first, 'shared.mpg'));
  await using second = await startDaemon(await configOf(scratch, host, 'two', ['inbox', 'other']), silentLogger);
  await writeFile(scratch.file('other/own.mpg'), 'of the second');
  await until('the second has sent its own', () => isDone(second, 'own.mpg'));
  expect(state(second, scratch.file('inbox'))).toMatchObject({
    state: 'frozen',
    why: expect.stringContaining('another dropcast'),
  });
  await first.stop(AbortSignal.timeout(60_000));
  expect(await inspectFolders(second.config())).toEqual([
    { key: 'folders[0].path', severity: 'error', message: expect.stringContaining(scratch.file('one')) },
  ]);
  expect(await inspectFolders(first.config())).toEqual([]);
  await second.folders.rescan();
  expect(state(second, scratch.file('inbox'))).toMatchObject({ why: expect.stringContaining(scratch.file('one')) });
  expect(bodies(host)).toEqual(['own', 'shared']);
  await rm(scratch.file('one'), { recursive: true });
  await writeFile(scratch.file('inbox/later.mpg'), 'after the purge');
  await second.folders.rescan();
  await until('the second has sent it', () => isDone(second, 'later.mpg'));
});

test('a copy of a state directory sends nothing that its rows know, until the other is gone', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeFolders('inbox');
  await using first = await startDaemon(await configOf(scratch, host, 'one', ['inbox']), silentLogger);
  await writeFile(scratch.file('inbox/known.mpg'), 'in both ledgers');
  await until('it is sent', () => isDone(first, 'known.mpg'));
  await first.stop(AbortSignal.timeout(60_000));
  await cp(scratch.file('one'), scratch.file('two'), { recursive: true });
  {
    // In the copy it is still to be sent.
    await using ledger = await openLedger(scratch.file('two'));
    const [facts] = await ledger.rows({ group: 'any', limit: 1 });
    if (facts !== undefined)
      await ledger.save({
        ...facts,
        videoId: null,
        uploadUrl: null,
        sha256: null,
        uploadedAt: null,
        readyAt: null,
        remoteStatus: null,
        end: null,
        endedAt: null,
        disposal: null,
        onDuplicate: 'upload',
      });
  }
  await using second = await startDaemon(await configOf(scratch, host, 'two', ['inbox']), silentLogger);
  await until('its row waits for the folder', async () => {
    const [facts] = await second.ledger.rows({ group: 'any', limit: 1 });
    return facts?.lastFailure?.code === 'folder_away';
  });
  expect(bodies(host)).toEqual(['known']);
  await rename(scratch.file('one'), scratch.file('gone'));
  await second.folders.rescan();
  await until('it goes on', () => bodies(host).length === 2);
});

test('a ledger that was lost and restored from its copy keeps its folders', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeFolders('inbox');
  const config = await configOf(scratch, host, 'one', ['inbox']);
  await writeFile(scratch.file('inbox/one.mpg'), 'before');
  const before = await startDaemon(config, silentLogger);
  await until('it is sent', () => isDone(before, 'one.mpg'));
  await before.stop(AbortSignal.timeout(60_000));
  await copyFile(scratch.file('one/backups/ledger.1.db'), scratch.file('one/ledger.db'));
  await rm(scratch.file('one/ledger.id'));
  await using after = await startDaemon(config, silentLogger);
  await writeFile(scratch.file('inbox/two.mpg'), 'after');
  await until('it goes on', () => isDone(after, 'two.mpg'));
  expect(bodies(host)).toEqual(['one', 'two']);
});

test('a folder of another dropcast inside ours is left alone, by scans and by events', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeFolders('inbox/inner');
  await using inner = await startDaemon(await configOf(scratch, host, 'inner-state', ['inbox/inner']), silentLogger);
  await using outer = await startDaemon(await configOf(scratch, host, 'outer-state', ['inbox']), silentLogger);
  await until('the outer one has looked', () => state(outer, scratch.file('inbox'))?.refused != null);
  expect(state(outer, scratch.file('inbox'))?.refused).toMatchObject({
    path: 'inner',
    why: expect.stringContaining('inner-state'),
  });
  await writeFile(scratch.file('inbox/inner/a.mpg'), 'of the inner one');
  await writeFile(scratch.file('inbox/b.mpg'), 'of the outer one');
  await until('both are sent', async () => (await isDone(inner, 'a.mpg')) && (await isDone(outer, 'b.mpg')));
  await outer.folders.rescan();
  expect(bodies(host)).toEqual(['a', 'b']);
});

test('a user who may not read which ledger is ours gets no false report about the folders', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeFolders('inbox');
  const config = await configOf(scratch, host, 'one', ['inbox']);
  await using daemon = await startDaemon(config, silentLogger);
  await until('it is marked', async () => state(daemon, scratch.file('inbox'))?.state === 'watching');
  // Another error than 'not there', for root too.
  await rm(scratch.file('one/ledger.id'));
  await mkdir(scratch.file('one/ledger.id'));
  expect(await inspectFolders(config)).toEqual([]);
});

test('a mark written by another user cannot control the terminal of check, or add lines', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeFolders('inbox');
  const config = await configOf(scratch, host, 'one', ['inbox']);
  const hostile = { ledger: 'x', stateDir: '/a\u001B[2J\nwarning: all is well', host: null, hostName: 'h\u0007' };
  await writeFile(scratch.file('inbox/.dropcast'), JSON.stringify(hostile));
  const [finding] = await inspectFolders(config);
  if (finding === undefined) throw new Error('nothing was found');
  const shown = formatProblem({ ...finding, file: config.file, line: 1, column: 1 }, scratch.path);
  expect(shown).toContain('warning: all is well');
  expect(shown).not.toMatch(/\p{Cc}/u);
});
