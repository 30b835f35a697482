import { link, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createLocalFiles } from '../../src/daemon/local-files.ts';
import type { Facts } from '../../src/pipeline/facts.ts';
import { versionOf } from '../../src/watch/observation.ts';
import { someFacts } from '../pipeline/some-facts.ts';

const files = createLocalFiles(() => null);

async function scratch(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'dropcast-local-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function accepted(folder: string, path: string, other: Partial<Facts> = {}): Promise<Facts> {
  const version = versionOf(await lstat(join(folder, path), { bigint: true }));
  return someFacts({ folder, path, version, ...other });
}

describe('moving after ready', () => {
  const afterReady = { kind: 'move', to: 'done' } as const;

  test('takes a free name and overwrites nothing', async () => {
    await using folder = await scratch();
    await mkdir(join(folder.path, 'done'));
    await writeFile(join(folder.path, 'done/clip.mp4'), 'older');
    await writeFile(join(folder.path, 'clip.mp4'), 'newer');
    const answer = await files.dispose(await accepted(folder.path, 'clip.mp4', { afterReady }));
    expect(answer).toMatchObject({ ok: true, value: { path: 'done/clip (2).mp4' } });
    expect(await readFile(join(folder.path, 'done/clip.mp4'), 'utf8')).toBe('older');
    expect(await readdir(folder.path)).toEqual(['done']);
  });

  test('goes on where a crash came between the new name and the end of the old one', async () => {
    await using folder = await scratch();
    await mkdir(join(folder.path, 'done'));
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    await link(join(folder.path, 'clip.mp4'), join(folder.path, 'done/clip.mp4'));
    const answer = await files.dispose(await accepted(folder.path, 'clip.mp4', { afterReady }));
    expect(answer).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
    expect(await readdir(join(folder.path, 'done'))).toEqual(['clip.mp4']);
    expect(await readdir(folder.path)).toEqual(['done']);
  });

  test('never leads out of the folder through a link', async () => {
    await using folder = await scratch();
    await using elsewhere = await scratch();
    await symlink(elsewhere.path, join(folder.path, 'done'));
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    const answer = await files.dispose(await accepted(folder.path, 'clip.mp4', { afterReady }));
    expect(answer.ok).toBe(false);
    expect(await readdir(elsewhere.path)).toEqual([]);
    expect(await readFile(join(folder.path, 'clip.mp4'), 'utf8')).toBe('bytes');
  });
});

test('a link file without an address is never taken for a video', async () => {
  await using folder = await scratch();
  await writeFile(join(folder.path, 'clip.url'), 'no address');
  const facts = await accepted(folder.path, 'clip.url');
  expect(await files.check(facts)).toMatchObject({ kind: 'permanent', code: 'no_address' });
  expect(await files.check({ ...facts, sourceUrl: 'https://example.com/clip.mp4' })).toBeNull();
});

test('a file that is away, changed, or in a folder that is away, is told apart', async () => {
  await using folder = await scratch();
  await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
  const facts = await accepted(folder.path, 'clip.mp4');
  expect(await files.check(facts)).toBeNull();
  await writeFile(join(folder.path, 'clip.mp4'), 'other bytes');
  expect(await files.check(facts)).toMatchObject({ kind: 'changed' });
  await rm(join(folder.path, 'clip.mp4'));
  expect(await files.check(facts)).toMatchObject({ kind: 'vanished' });
  const away = createLocalFiles(() => 'unmounted');
  expect(await away.check(facts)).toMatchObject({ kind: 'suspended', code: 'folder_away' });
});
