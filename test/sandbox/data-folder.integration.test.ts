import { chmod, mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { SCHEMA_VERSION } from '../../packages/sandbox/src/store/database.ts';
import { runSandbox } from './running-sandbox.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const refused = (dataDir: string) => expect(startSandbox({ dataDir })).rejects;

test.each(['incoming', 'media', 'thumbnails', 'artwork', 'era-3'])(
  'a folder with foreign files in %s is refused, and they stay',
  async (name) => {
    await using folder = await scratchDirectory();
    await mkdir(join(folder.path, name));
    await writeFile(join(folder.path, name, 'wedding.mp4'), 'the only copy');
    await refused(folder.path).toMatchObject({
      name: 'DataFolderError',
      message: expect.stringContaining(name),
    });
    expect(await readFile(join(folder.path, name, 'wedding.mp4'), 'utf8')).toBe('the only copy');
    expect(await readdir(folder.path)).toEqual([name]);
  },
);

test('accepts other files, and empty folders with these names', async () => {
  await using folder = await scratchDirectory();
  await mkdir(join(folder.path, 'media'));
  await writeFile(join(folder.path, 'notes.txt'), 'mine');
  await using service = await runSandbox({ dataDir: folder.path });
  expect((await service.upload('clip.mp4')).status).toBe('ready');
  expect(await readFile(join(folder.path, 'notes.txt'), 'utf8')).toBe('mine');
});

test('the records are for their owner alone, also those that an earlier version left open', async () => {
  await using folder = await scratchDirectory();
  const path = join(folder.path, 'sandbox.db');
  const modes = async () =>
    Promise.all([path, `${path}-wal`].map(async (file) => ((await stat(file)).mode & 0o777).toString(8)));
  {
    await using service = await runSandbox({ dataDir: folder.path });
    await service.create();
    expect(await modes()).toEqual(['600', '600']);
  }
  await chmod(path, 0o644);
  await using service = await runSandbox({ dataDir: folder.path });
  await service.create();
  expect(await modes()).toEqual(['600', '600']);
});

test('refuses records of another version, and says what to do', async () => {
  await using folder = await scratchDirectory();
  const database = new DatabaseSync(join(folder.path, 'sandbox.db'));
  database.exec('PRAGMA user_version = 1');
  database.close();
  await refused(folder.path).toMatchObject({
    reason: 'another version',
    message: expect.stringMatching(new RegExp(`sandbox\\.db .*schema 1; .*${SCHEMA_VERSION}`)),
  });
});

test.each<[string, (records: string) => unknown, string]>([
  ['that another program wrote', (path) => exec(path, 'DROP TABLE plays; PRAGMA user_version = 0'), 'another program'],
  ['of which pages are damaged', damagePages, 'is damaged'],
  ['that lost their end', (path) => truncate(path, 10_000), 'is damaged'],
  ['that another program wrote with the same number', (path) => exec(path, 'DROP TABLE plays'), 'another program'],
  ['that lost everything', (path) => truncate(path, 0), 'would remove the files'],
  ['of a single byte', (path) => writeFile(path, 'x'), 'would remove the files'],
  ['without any table', replaceByNothing, 'would remove the files'],
])('refuses records %s, and removes no file', async (_what, change, why) => {
  await using folder = await scratchDirectory();
  const media = join(folder.path, 'media');
  {
    await using service = await runSandbox({ dataDir: folder.path });
    await service.upload('clip.mp4');
  }
  const files = await readdir(media);
  await change(join(folder.path, 'sandbox.db'));
  await refused(folder.path).toMatchObject({ reason: 'unusable', message: expect.stringContaining(why) });
  await refused(folder.path).toMatchObject({ message: expect.stringContaining(folder.path) });
  expect(files).toHaveLength(1);
  expect(await readdir(media)).toEqual(files);
});

function exec(path: string, sql: string): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

/** As a kill leaves them before the first table. */
async function replaceByNothing(path: string): Promise<void> {
  await truncate(path, 0);
  exec(path, 'PRAGMA journal_mode = WAL');
}

/** All but the first, which has the schema. */
async function damagePages(path: string): Promise<void> {
  const bytes = await readFile(path);
  for (let page = 1; page * 4096 < bytes.length; page += 1) bytes.fill(255, page * 4096 + 10, page * 4096 + 2000);
  await writeFile(path, bytes);
}

test.each<[string, (folder: string) => string | Promise<string>, string]>([
  ['below a folder that is not there', (folder) => join(folder, 'a', 'b'), 'does not exist'],
  ['below a file', async (folder) => join(await written(folder, 'file', ''), 'data'), 'data folder'],
  ['that is a file', (folder) => written(folder, 'file', ''), 'ENOTDIR'],
  [
    'whose records are none',
    async (folder) => (await written(folder, 'sandbox.db', 'x'.repeat(5000)), folder),
    'not a database',
  ],
  ['whose records are a folder', async (folder) => (await mkdir(join(folder, 'sandbox.db')), folder), 'EISDIR'],
])('a data folder %s is refused in a sentence that names it', async (_what, make, why) => {
  await using folder = await scratchDirectory();
  const wanted = await make(folder.path);
  await refused(wanted).toMatchObject({ name: 'DataFolderError', message: expect.stringContaining(why) });
  await refused(wanted).toMatchObject({ message: expect.stringContaining(wanted) });
});

async function written(folder: string, name: string, content: string): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}
