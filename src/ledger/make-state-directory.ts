import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LedgerError } from './schema.ts';
import { isUsableDirectory, refusal, stateDirectory } from './usable.ts';

/**
 * Makes the state directory, private, and those above it that are missing.
 *
 * @throws {LedgerError} that says why not
 */
export async function makeStateDirectory(path: string): Promise<void> {
  try {
    if (!(await isUsableDirectory(path))) await makeDirectory(path);
  } catch (error) {
    throw await refusal(path, error, stateDirectory(path));
  }
}

/** Not with Node's `recursive`: that never comes back where nothing can be made, as below /proc (Node 26.10). */
async function makeDirectory(path: string): Promise<void> {
  if ((await tryMake(path)) || dirname(path) === path) return;
  await makeDirectory(dirname(path));
  if (!(await tryMake(path))) throw new LedgerError(`${stateDirectory(path)} cannot be made in ${dirname(path)}`);
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
