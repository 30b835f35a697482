import { spawnSync } from 'node:child_process';
import { link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { HeldDirectory } from '../../../src/disk/held-directory.ts';
import { moveFile } from '../../../src/disk/put-away/move-file.ts';
import type { MovableFile } from '../../../src/disk/put-away/move-file.ts';
import { needs } from '../../support/needs.ts';

async function scratch() {
  const folder = await scratchDirectory();
  await mkdir(folder.file('done'));
  await folder.write('done/clip.mp4', 'bytes');
  return folder;
}

const at = (directory: string): HeldDirectory => ({ at: (name) => join(directory, name) });
const clipAt = (path: string): MovableFile => ({
  path,
  source: path,
  name: 'clip.mp4',
  id: 'f_1',
  confirm: async () => undefined,
  hasCopyAt: async () => false,
});

test('a name that another file has in another Unicode form is taken', async () => {
  await using folder = await scratch();
  const [composed, decomposed] = ['Gr\u00F6\u00DFe', 'Gro\u0308\u00DFe'];
  await folder.write(`done/${composed}.mp4`, 'other bytes');
  const path = await folder.write(`${decomposed}.mp4`, 'bytes');
  const file = { ...clipAt(path), name: `${decomposed}.mp4` };
  expect(await moveFile(file, at(folder.file('done')))).toBe(`${decomposed} (2).mp4`);
  expect(await readFile(folder.file('done', `${composed}.mp4`), 'utf8')).toBe('other bytes');
});

test('the leftover name of a crashed move is removed, as the file has another', async () => {
  await using folder = await scratch();
  const done = join(folder.path, 'done');
  await link(join(done, 'clip.mp4'), join(folder.path, 'clip.mp4'));
  expect(await moveFile(clipAt(join(folder.path, 'clip.mp4')), at(done))).toBe('clip.mp4');
  expect([await readdir(folder.path), await readdir(done)]).toEqual([['done'], ['clip.mp4']]);
});

test('the only name of a file is never removed, though it is seen in two directories', needs('mount'), async () => {
  await using folder = await scratch();
  const [clip, twin] = [join(folder.path, 'clip.mp4'), join(folder.path, 'done/clip.mp4')];
  await writeFile(clip, 'the only one');
  spawnSync('mount', ['--bind', clip, twin]);
  try {
    expect(await moveFile(clipAt(clip), at(join(folder.path, 'done')))).toBe('clip (2).mp4');
    expect(await readFile(join(folder.path, 'done/clip (2).mp4'), 'utf8')).toBe('the only one');
  } finally {
    spawnSync('umount', [twin]);
  }
});

test('with every name taken, says so and what to do', async () => {
  await using folder = await scratch();
  const full = { at: (name: string) => join(folder.path, 'done', name.startsWith('.') ? name : 'clip.mp4') };
  await writeFile(join(folder.path, 'clip.mp4'), 'the only one');
  await expect(moveFile(clipAt(join(folder.path, 'clip.mp4')), full)).rejects.toThrow(
    'the directory already has 10000 files named like "clip.mp4": remove some, or rename the file',
  );
  expect(await readFile(join(folder.path, 'clip.mp4'), 'utf8')).toBe('the only one');
});

test.each([
  ['ends in ASCII', `${'a'.repeat(251)}.mp4`, `${'a'.repeat(247)} (2).mp4`],
  ['has two bytes a letter', `a${'ö'.repeat(125)}.mp4`, `a${'ö'.repeat(123)} (2).mp4`],
  ['has a family of 25 bytes at its end', `${'a'.repeat(226)}👨‍👩‍👧‍👦.mp4`, `${'a'.repeat(226)} (2).mp4`],
  ['has an ending that is longer than most names', `a.${'b'.repeat(253)}`, `a.${'b'.repeat(249)} (2)`],
])('the longest name gets another one that fits when it is taken and %s', async (_, name, newName) => {
  await using folder = await scratch();
  await folder.write(`done/${name}`, 'of yesterday');
  const path = await folder.write(name, 'of today');
  expect(Buffer.byteLength(newName)).toBeLessThanOrEqual(255);
  expect(await moveFile({ ...clipAt(path), name }, at(folder.file('done')))).toBe(newName);
  expect(await readFile(folder.file('done', name), 'utf8')).toBe('of yesterday');
  expect(await readFile(folder.file('done', newName), 'utf8')).toBe('of today');
});

test('a name that is too long for the file system of its new place is shortened', async () => {
  await using folder = await scratch();
  const name = `${'a'.repeat(196)}.mp4`;
  const path = await folder.write(name, 'bytes');
  // As eCryptfs: the rest of a longer name is one that no file system takes.
  const encrypted = { at: (name: string) => folder.file('done', name.length > 143 ? 'x'.repeat(256) : name) };
  expect(await moveFile({ ...clipAt(path), name }, encrypted)).toBe(`${'a'.repeat(139)}.mp4`);
});
