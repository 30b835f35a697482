import { spawnSync } from 'node:child_process';
import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { HeldDirectory } from '../../../src/disk/held-directory.ts';
import { moveFile } from '../../../src/disk/put-away/move-file.ts';
import { needs } from '../../support/needs.ts';

async function scratch() {
  const folder = await scratchDirectory();
  await mkdir(folder.file('done'));
  await folder.write('done/clip.mp4', 'bytes');
  return folder;
}

const at = (directory: string): HeldDirectory => ({ at: (name) => join(directory, name) });

// `Done` and `done` are one directory where case does not count (APFS, exFAT); here a link makes the second name.
test('a file that is in the directory already, under whatever name of it, stays as it is', async () => {
  await using folder = await scratch();
  const done = join(folder.path, 'done');
  await symlink(done, join(folder.path, 'Done'));
  for (const name of ['done', 'Done'])
    expect(await moveFile(join(folder.path, name, 'clip.mp4'), at(done), 'f_1')).toBeNull();
  expect(await readdir(done)).toEqual(['clip.mp4']);
});

test('the leftover name of a crashed move is removed, as the file has another', async () => {
  await using folder = await scratch();
  const done = join(folder.path, 'done');
  await link(join(done, 'clip.mp4'), join(folder.path, 'clip.mp4'));
  expect(await moveFile(join(folder.path, 'clip.mp4'), at(done), 'f_1')).toBe('clip.mp4');
  expect([await readdir(folder.path), await readdir(done)]).toEqual([['done'], ['clip.mp4']]);
});

test('the only name of a file is never removed, though it is seen in two directories', needs('mount'), async () => {
  await using folder = await scratch();
  const [clip, twin] = [join(folder.path, 'clip.mp4'), join(folder.path, 'done/clip.mp4')];
  await writeFile(clip, 'the only one');
  spawnSync('mount', ['--bind', clip, twin]);
  try {
    expect(await moveFile(clip, at(join(folder.path, 'done')), 'f_1')).toBe('clip.mp4');
    expect(await readFile(clip, 'utf8')).toBe('the only one');
  } finally {
    spawnSync('umount', [twin]);
  }
});
