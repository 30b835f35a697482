import { spawnSync } from 'node:child_process';
import { appendFile, lstat, mkdir, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { moments } from '../disk/put-away/moments.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { checkBytes } from '../../src/watch/completeness.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';

vi.mock('node:fs/promises', async (original) => {
  const { observed } = await import('../disk/put-away/moments.ts');
  return observed(await original());
});

/** A folder with `show/clip.mp4` in it, and a link to the folder. */
async function folderWithClip() {
  const base = await scratchDirectory();
  const folder = base.file('folder');
  const clip = join(folder, 'show/clip.mp4');
  await mkdir(join(folder, 'show'), { recursive: true });
  await writeFile(clip, 'content');
  await symlink(folder, base.file('link'));
  const version = versionOf(await lstat(clip, { bigint: true }));
  const prove = (root = folder) => checkBytes(root, 'show/clip.mp4', version, true);
  return { ...base, folder, clip, prove };
}

test('the observed file is sound, also in a folder that is configured through a link', async () => {
  await using there = await folderWithClip();
  expect(await there.prove()).toEqual({ is: 'sound' });
  expect(await there.prove(there.file('link'))).toEqual({ is: 'sound' });
});

test('where no link is on the way, no path is followed a second time', async () => {
  await using there = await folderWithClip();
  const calls: string[] = [];
  moments.before = (name) => calls.push(name);
  await there.prove();
  moments.reset();
  expect(calls).toEqual(['open']);
});

test('a file behind a directory that became a link is never read', async () => {
  await using there = await folderWithClip();
  await rename(join(there.folder, 'show'), there.file('outside'));
  await symlink(there.file('outside'), join(there.folder, 'show'));
  expect(await there.prove()).toEqual({
    is: 'unreadable',
    why: 'a directory above it is a symbolic link',
    isRefused: false,
  });
});

test.each<[string, (clip: string) => unknown]>([
  ['changed', (clip) => appendFile(clip, ' and more')],
  ['vanished', (clip) => unlink(clip)],
  ['became a link', async (clip) => [await rename(clip, `${clip}.real`), await symlink(`${clip}.real`, clip)]],
  [
    'became a pipe, without waiting for its other end',
    async (clip) => [await unlink(clip), spawnSync('mkfifo', [clip])],
  ],
])('a file that %s is to be checked again', async (_, change) => {
  await using there = await folderWithClip();
  await change(there.clip);
  expect(await there.prove()).toEqual({ is: 'moved' });
});
