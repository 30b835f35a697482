import { lchown, mkdir, rename, symlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { RootCheck } from '../../src/watch/root-check.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const isRoot = process.geteuid?.() === 0;

test.runIf(isRoot)('a folder that another user replaces by a link is away, at the start and later', async () => {
  await using scratch = await scratchDirectory();
  const folder = scratch.file('sub/in');
  await mkdir(folder, { recursive: true });
  const check = (): RootCheck => new RootCheck({ path: folder, mark: async () => null });
  const before = check();
  expect(await before.look(new Map())).toEqual({ isSound: true });
  await mkdir(scratch.file('other/in'), { recursive: true });
  await rename(scratch.file('sub'), scratch.file('old'));
  // Relative, and not the last name: each part of the way counts.
  await symlink('other', scratch.file('sub'));
  for (const root of [before, check()]) {
    await lchown(scratch.file('sub'), 0, 0);
    expect(await root.look(new Map())).toEqual({ isSound: true });
    await lchown(scratch.file('sub'), 4444, 4444);
    expect(await root.look(new Map())).toMatchObject({
      isSound: false,
      why: expect.stringContaining('belongs to another user'),
    });
  }
});
