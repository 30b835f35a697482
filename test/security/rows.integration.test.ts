import { createHash } from 'node:crypto';
import { link, lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { uploadSource } from '../../src/disk/accepted-file.ts';
import { failureOfFile } from '../../src/disk/failure.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { checkBytes } from '../../src/watch/completeness.ts';
import { openDaemonClient } from '../client/daemon-client.ts';
import { startHost, takeAll } from '../client/upload-host.ts';
import { someFacts, somePlan } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { filesOfQuietFolders } from '../disk/quiet-folder.ts';

const { signal } = new AbortController();
const secret = 'the key of the service';

/** A watched folder, and next to it what no row may name: a key, and a folder that nothing configures. */
async function machine() {
  const scratch = await scratchDirectory();
  const folder = scratch.file('inbox');
  await mkdir(join(folder, 'sub'), { recursive: true });
  await mkdir(scratch.file('conf'));
  await writeFile(scratch.file('conf/key'), secret);
  await writeFile(join(folder, 'clip.mp4'), 'a film');
  const isWatched = (path: string): boolean => path === folder;
  const local = filesOfQuietFolders({
    isWatched,
  });
  return { scratch, folder, isWatched, local, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
}

type Machine = Awaited<ReturnType<typeof machine>>;

const text = 'a film';

/** The attacker who writes such a row knows everything about the key. */
async function rowOf(there: Machine, row: Partial<Facts>): Promise<Facts> {
  const real = join(there.scratch.path, row.path?.includes('clip') === true ? 'inbox/clip.mp4' : 'conf/key');
  const bytes = await readFile(real);
  return someFacts({
    folder: there.folder,
    version: versionOf(await lstat(real, { bigint: true })),
    sha256: createHash('sha256').update(bytes).digest('hex'),
    videoId: 'v_1',
    ...row,
  });
}

type Attack = (there: Machine) => Partial<Facts> | Promise<Partial<Facts>>;

const attacks: readonly (readonly [string, Attack])[] = [
  ['a folder that is not configured', ({ scratch }) => ({ folder: scratch.file('conf'), path: 'key' })],
  ['the root directory as its folder', ({ scratch }) => ({ folder: '/', path: scratch.file('conf/key').slice(1) })],
  ['a folder above the watched one', ({ scratch }) => ({ folder: scratch.path, path: 'conf/key' })],
  ['the watched folder by another spelling', ({ folder }) => ({ folder: `${folder}/../conf`, path: 'key' })],
  ['no folder', ({ scratch }) => ({ folder: '', path: scratch.file('conf/key') })],
  ['a path that climbs out', () => ({ path: '../conf/key' })],
  ['a path that climbs out of a sub-folder', () => ({ path: 'sub/../../conf/key' })],
  ['a path that climbs further than the root', () => ({ path: `${'../'.repeat(64)}etc/passwd` })],
  ['an absolute path', ({ scratch }) => ({ path: scratch.file('conf/key') })],
  ['a path with a NUL', () => ({ path: 'clip.mp4\0' })],
  [
    'a path through a link',
    async ({ scratch, folder }) => {
      await symlink(scratch.file('conf'), join(folder, 'linked'));
      return { path: 'linked/key' };
    },
  ],
  [
    'a link instead of the file',
    async ({ scratch, folder }) => {
      await symlink(scratch.file('conf/key'), join(folder, 'key'));
      return { path: 'key' };
    },
  ],
];

test.each(attacks)('a row with %s is neither read nor sent, and fails with the reason', async (_, attack) => {
  await using there = await machine();
  const facts = await rowOf(there, await attack(there));
  const outside = { ok: false, failure: { kind: expect.stringMatching(/^(?:permanent|changed)$/) } };
  expect(await there.local.hash(facts, signal)).toMatchObject(outside);
  expect(await there.local.hash(facts, signal, 'md5')).toMatchObject(outside);
  await using host = await startHost(takeAll());
  await using opened = openDaemonClient('http://127.0.0.1:1/v1');
  const sent = await opened
    .send(uploadSource(facts, there.isWatched), `${host.origin}/u`)
    .catch((error: unknown) => error);
  expect(failureOfFile(sent)).toMatchObject(outside.failure);
  expect(host.seen).toEqual([]);
});

test.each(attacks)('a row with %s deletes and moves nothing', async (_, attack) => {
  await using there = await machine();
  const row = await attack(there);
  for (const afterReady of [{ kind: 'delete' }, { kind: 'move', to: 'done' }] as const) {
    const facts = await rowOf(there, { ...row, afterReady });
    expect(await there.local.dispose(facts, signal, true)).toMatchObject({ ok: false });
  }
  expect(await readFile(there.scratch.file('conf/key'), 'utf8')).toBe(secret);
  expect(await readFile(join(there.folder, 'clip.mp4'), 'utf8')).toBe(text);
});

test('a row of a folder that is no longer configured says what to do', async () => {
  await using there = await machine();
  const facts = await rowOf(there, { folder: there.scratch.file('conf'), path: 'key' });
  expect(await there.local.check(facts)).toEqual({
    kind: 'permanent',
    code: 'outside_folder',
    message:
      `the folder ${JSON.stringify(there.scratch.file('conf'))} is not in the configuration of this host, so its files are left alone: ` +
      'add it to `folders`, then run `dropcast retry`',
  });
  expect(await there.local.checksums(facts)).toMatchObject({ ok: false, failure: { code: 'outside_folder' } });
});

test.each(['../conf/key', '..', '/conf/key', 'sub/..'])(
  'the sidecar that a row names as %j is not deleted with its video',
  async (path) => {
    await using there = await machine();
    const sha256 = createHash('sha256').update(secret).digest('hex');
    for (const besides of [{ sidecar: { path, sha256 } }, { proofs: [{ path, sha256 }] }]) {
      const plan = { ...somePlan, ...besides };
      const facts = await rowOf(there, { path: 'clip.mp4', plan, afterReady: { kind: 'delete' } });
      expect(await there.local.dispose(facts, signal, true)).toMatchObject({ failure: { code: 'outside_folder' } });
    }
    expect(await readFile(there.scratch.file('conf/key'), 'utf8')).toBe(secret);
  },
);

test('an id that leads elsewhere names no directory to work in', async () => {
  await using there = await machine();
  await mkdir(join(there.folder, '.dropcast-x'));
  await link(there.scratch.file('conf/key'), there.scratch.file('conf/key.part'));
  const id = 'x/../../conf/key';
  const facts = await rowOf(there, { id, path: 'clip.mp4', afterReady: { kind: 'move', to: '.' } });
  expect(await there.local.dispose(facts, signal, true)).toMatchObject({ failure: { code: 'outside_folder' } });
  expect(await readFile(there.scratch.file('conf/key.part'), 'utf8')).toBe(secret);
});

test('the watcher does not open what a row names outside of its folder', async () => {
  await using there = await machine();
  const version = versionOf(await lstat(there.scratch.file('conf/key'), { bigint: true }));
  for (const path of ['../conf/key', 'sub/../../conf/key'])
    expect(await checkBytes(there.folder, path, version, false)).toMatchObject({ is: 'unreadable' });
});

test('a file of the folder itself is read, sent and deleted as before', async () => {
  await using there = await machine();
  const facts = await rowOf(there, { path: 'clip.mp4', afterReady: { kind: 'delete' } });
  expect(await there.local.check(facts)).toBeNull();
  expect(await there.local.hash(facts, signal)).toEqual({ ok: true, value: facts.sha256 });
  expect(await there.local.dispose(facts, signal, true)).toEqual({ ok: true, value: null });
});
