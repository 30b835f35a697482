import { lchown, mkdir, rename, symlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { RootCheck } from '../../src/watch/root-check.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const isRoot = process.geteuid?.() === 0;

test.runIf(isRoot)('a folder that another user replaces by a link is away, at the start and later', async () => {
  await using scratch = await scratchDirectory();
  const folder = scratch.file('sub/in');
  await mkdir(folder, { recursive: true });
  await mkdir(scratch.file('other/in'), { recursive: true });
  const before = new RootCheck(folder);
  expect(await before.begin(new Set(), new Map())).toEqual({ isSound: true });
  await rename(scratch.file('sub'), scratch.file('old'));
  // Relative, and not the last name: each part of the way counts.
  await symlink('other', scratch.file('sub'));
  for (const check of [() => before.again(new Map()), () => new RootCheck(folder).begin(new Set(), new Map())]) {
    await lchown(scratch.file('sub'), 0, 0);
    expect(await check()).toEqual({ isSound: true });
    await lchown(scratch.file('sub'), 4444, 4444);
    expect(await check()).toMatchObject({ isSound: false, why: expect.stringContaining('belongs to another user') });
  }
});
