import { mkdir, truncate } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { largeFiles } from '../../../src/cli/configure/large-files.ts';
import type { Config } from '../../../src/config/config.ts';
import { someFolderConfig } from '../../support/folder-config.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const mb = 1_000_000;
const learned = { mostBytes: 4 * mb, isStated: true, refusedBytes: 9 * mb, at: 1, said: 'no' };

async function said(maxSizeBytes: number, taught: typeof learned | null = null): Promise<readonly string[]> {
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('in/nested'), { recursive: true });
  const sizes = { 'a.mp4': 6, 'b\n.mp4': 7, 'c.mp4': 5, 'd.txt': 9, 'e.yaml': 9, 'nested/f.mp4': 8 };
  for (const [name, size] of Object.entries(sizes)) await truncate(await scratch.write(`in/${name}`, ''), size * mb);
  const folders = [
    someFolderConfig(scratch.file('in')),
    someFolderConfig(scratch.file('in/nested'), { key: 'folders[1]' }),
    someFolderConfig(scratch.file('missing'), { key: 'folders[2]' }),
  ];
  const hints = await largeFiles({ folders, uploads: { maxSizeBytes } } as unknown as Config, taught);
  return hints.map(({ key, message }) => `${key}: ${message.replaceAll(scratch.path, '')}`);
}

test('without a limit nothing is said', async () => {
  expect(await said(Infinity)).toEqual([]);
});

test('files over `uploads.max_size` are counted by folder, with the largest one', async () => {
  expect(await said(5 * mb)).toEqual([
    'folders[0].path: in /in 2 files are larger than uploads.max_size (5 MB), such as b\\n.mp4 (7 MB): held unless sent before',
    'folders[1].path: in /in/nested 1 file is larger than uploads.max_size (5 MB), such as f.mp4 (8 MB): held unless sent before',
  ]);
});

test('the limit learned from the service counts where it is lower', async () => {
  expect((await said(5 * mb, learned))[0]).toMatch(
    /3 files are larger than the limit learned from the service \(4 MB\)/,
  );
  expect((await said(3 * mb, learned))[0]).toMatch(/3 files are larger than uploads\.max_size \(3 MB\)/);
});
