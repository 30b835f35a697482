import { realpath, symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startedPrograms } from '../../src/cli/systemd/unit-needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

test('a program is started with the interpreter of its first line, both where they really are', async () => {
  await using scratch = await scratchDirectory();
  await writeFile(scratch.file('tell.sh'), '#! /bin/sh -e\nexit\n');
  await symlink('tell.sh', scratch.file('tell'));
  const real = await realpath(scratch.file('tell.sh'));
  expect(await startedPrograms(scratch.file('tell'))).toEqual([scratch.file('tell'), real, await realpath('/bin/sh')]);
  await writeFile(scratch.file('binary'), Buffer.from([0x7f, 0x45, 0x4c, 0x46]));
  expect(await startedPrograms(await realpath(scratch.file('binary')))).toEqual([
    await realpath(scratch.file('binary')),
  ]);
  expect(await startedPrograms('/not/there')).toEqual(['/not/there']);
});
