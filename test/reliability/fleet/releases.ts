import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { plant } from '../planted/plant.ts';

export interface LaterRelease {
  readonly version: string;
  /** Steps of the tables beside those that there are: for each, the least schema that a member must know after it. */
  readonly needsAtLeast: readonly number[];
}

/**
 * A copy of the program that is a later release, with more steps of the tables: each adds a column.
 *
 * @param folder that gets the copy; must not exist
 * @returns its main file
 */
export async function laterRelease(program: string, folder: string, release: LaterRelease): Promise<string> {
  const steps = release.needsAtLeast.map((needsAtLeast, n) => ({
    needsAtLeast,
    text: `ALTER TABLE file ADD COLUMN later_${n} text`,
  }));
  const anchor = 'const knownSchema = steps.length;';
  const copy = await plant(program, folder, [
    { anchor, instead: `steps.push(...${JSON.stringify(steps)});\n${anchor}` },
  ]);
  const manifest = join(dirname(copy), '..', 'package.json');
  const known = JSON.parse(await readFile(manifest, 'utf8')) as object;
  // It is a link.
  await rm(manifest);
  await writeFile(manifest, JSON.stringify({ ...known, version: release.version }));
  return copy;
}
