import { readdir, rmdir } from 'node:fs/promises';
import { posix } from 'node:path';
import { inDirectory } from '../held-directory.ts';
import { freeMove, privateDirectoryOf } from './private-directory.ts';

const ours = new RegExp(`^${privateDirectoryOf('(f_[0-9a-f]{12})').replace('.', '\\.')}$`);

/** Returns the id of the row that a private directory was created for; null for any other directory. */
export function rowOfPrivateDirectory(directory: string): string | null {
  return ours.exec(posix.basename(directory))?.[1] ?? null;
}

/**
 * Moves the files in a private directory back under their own names, or under free ones if those are taken, and removes
 * the directory. Leaves other entries alone.
 *
 * @param directory as accepted by `rowOfPrivateDirectory`, relative to the folder
 * @returns the new paths of the files, relative to the folder
 * @throws the system error
 */
export async function giveBackAll(folder: string, directory: string): Promise<readonly string[]> {
  const [parent, own] = [posix.dirname(directory), posix.basename(directory)];
  return inDirectory({ folder, directory: parent }, async (from) => {
    const given = await inDirectory({ folder: from.at('.'), directory: own }, async (held) => {
      const names: string[] = [];
      for (const entry of await readdir(held.at('.'), { withFileTypes: true }))
        if (entry.isFile()) names.push(await freeMove(held.at(entry.name), from, { name: entry.name, id: own }));
      return names;
    });
    await rmdir(from.at(own)).catch(() => undefined);
    return given.map((name) => posix.join(parent, name));
  });
}
