import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { syncPath } from '../../src/disk/file-system.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

test('a pipe that took the place of a file is not waited for', async () => {
  await using scratch = await scratchDirectory();
  spawnSync('mkfifo', [scratch.file('pipe')]);
  await expect(syncPath(scratch.file('pipe'))).rejects.toMatchObject({ code: 'EINVAL' });
});
