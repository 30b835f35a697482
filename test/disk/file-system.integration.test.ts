import { link, open, unlink } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { freedBy, syncPath } from '../../src/disk/file-system.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

test('a deletion frees what a file has on the disk, and nothing while it has other hard links', async () => {
  await using scratch = await scratchDirectory();
  const file = { folder: scratch.path, path: 'clip.mp4' };
  expect(await freedBy(file)).toBeNull();
  await scratch.write('clip.mp4', 'x'.repeat(10_000));
  expect(await freedBy(file)).toBe(10_000);
  await link(scratch.file('clip.mp4'), scratch.file('another'));
  expect(await freedBy(file)).toBe(0);
  await unlink(scratch.file('another'));
  expect(await freedBy(file)).toBe(10_000);
  await using handle = await open(scratch.file('clip.mp4'), 'r+');
  await handle.truncate(100_000_000);
  expect(await freedBy(file)).toBeLessThan(1_000_000);
});

test('a pipe that took the place of a file is not waited for', async () => {
  await using scratch = await scratchDirectory();
  spawnSync('mkfifo', [scratch.file('pipe')]);
  await expect(syncPath(scratch.file('pipe'))).rejects.toMatchObject({ code: 'EINVAL' });
});
