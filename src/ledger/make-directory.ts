import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a private directory and those above it that are missing. Not with Node's `recursive`: that never comes back where
 * nothing can be made, as below /proc (Node 26.10).
 *
 * @throws the error of `mkdir`
 */
export async function makeDirectory(path: string): Promise<void> {
  if ((await tryMake(path)) || dirname(path) === path) return;
  await makeDirectory(dirname(path));
  if (!(await tryMake(path))) throw new Error(`${path} cannot be made`);
}

/** @returns false when the directory above it is missing */
async function tryMake(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    throw error;
  }
}
