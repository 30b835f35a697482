import { mkdir, readdir, readFile, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { inDirectory, NotInFolderError } from '../../src/disk/held-directory.ts';
import { needs } from '../support/needs.ts';

/** A watched folder, and beside it what does not belong to it. */
async function scratch() {
  const base = await scratchDirectory();
  const [folder, others] = [base.file('inbox'), base.file('others')];
  await mkdir(join(folder, 'show'), { recursive: true });
  await mkdir(others);
  await writeFile(join(folder, 'show/clip.mp4'), 'ours');
  await writeFile(join(others, 'clip.mp4'), 'theirs');
  return { ...base, folder, others };
}

// macOS, or a container without /proc: there only the way down is looked at.
describe.each([
  ['held open', true],
  ['only looked at', false],
])('a directory that is %s', (_, holds) => {
  test(
    'is worked in, and made where it is missing, also below a folder that is a link',
    holds ? needs('/proc') : needs(),
    async () => {
      await using there = await scratch();
      const folder = there.file('shown');
      await symlink(there.folder, folder);
      await inDirectory({ folder, directory: 'show', holds }, async (held) => {
        expect(await readFile(held.at('clip.mp4'), 'utf8')).toBe('ours');
      });
      const work = inDirectory({ folder, directory: 'done/2026', holds }, async () => 'there');
      await expect(work).rejects.toMatchObject({ code: 'ENOENT' });
      for (const directory of ['done/2026', 'done/2026', 'done', '', '.'])
        await inDirectory({ folder, directory, make: true, holds }, (held) => writeFile(held.at('new.mp4'), 'new'));
      expect(await readdir(join(there.folder, 'done/2026'))).toEqual(['new.mp4']);
    },
  );

  test.each(['done', 'done/2026/11'])(
    'is never one behind a link: %s is refused, and nothing is created or removed there',
    holds ? needs('/proc') : needs(),
    async (directory) => {
      await using there = await scratch();
      await symlink(there.others, join(there.folder, 'done'));
      for (const make of [true, false]) {
        const work = inDirectory({ folder: there.folder, directory, make, holds }, (held) =>
          unlink(held.at('clip.mp4')),
        );
        await expect(work).rejects.toThrow(`"${there.folder}/done" is a link`);
        await expect(work).rejects.toBeInstanceOf(NotInFolderError);
      }
      expect(await readdir(there.others)).toEqual(['clip.mp4']);
    },
  );

  test.each(['show/clip.mp4', 'show/..', '../others'])(
    'is a directory of the folder: %s is refused',
    holds ? needs('/proc') : needs(),
    async (directory) => {
      await using there = await scratch();
      const work = inDirectory({ folder: there.folder, directory, make: true, holds }, async () => 'done');
      await expect(work).rejects.toBeInstanceOf(NotInFolderError);
    },
  );
});

test('an error shows the path of its own descriptor, and leaves others alone', needs('/proc'), async () => {
  await using there = await scratch();
  const work = inDirectory({ folder: there.folder, directory: 'show' }, async (held) => {
    throw new Error(
      `between ${held.at('clip.mp4')}, ${held.at('').slice(0, -1)} and ${held.at('').slice(0, -1)}7/clip.mp4`,
    );
  });
  const show = join(there.folder, 'show');
  await expect(work).rejects.toThrow(
    new RegExp(`^between ${show}/clip.mp4, ${show} and /proc/self/fd/\\d+7/clip.mp4$`),
  );
});
