import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { posix } from 'node:path';
import { FileChangedError } from '@dropcast/client';
import { looksTheSame, versionOf } from '../../pipeline/file/file-version.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Failure } from '../../pipeline/file/failure.ts';
import type { Answer } from '../../pipeline/file/ports.ts';
import { errnoOf } from '../errno.ts';
import { inDirectory } from '../held-directory.ts';
import { actionOf } from './actions.ts';

/** Where a file is now that it was put away; null when it was deleted. */
export type PutAwayFile = { readonly path: string; readonly version: FileVersion } | null;

/**
 * Whether the `after_ready` action of a file can be carried out, as far as can be seen without trying and without reading the file.
 *
 * @returns null if nothing speaks against it
 * @throws what the system says when a directory that loses or gains a name cannot be written to
 */
export async function checkPutAway(facts: Facts): Promise<Failure | null> {
  const action = actionOf(facts);
  if (!action.ok) return action.failure;
  for (const directory of action.value.directories) await requireWritable(facts.folder, directory);
  return null;
}

/**
 * Carries out the `after_ready` action of a file, from the directory that holds it now. The caller has just found its hash equal.
 *
 * @throws {FileChangedError} it is no longer the accepted version
 * @throws {NotInFolderError} a part of its way is a link, or leads out of the folder
 * @throws what the system says
 */
export async function putAway(facts: Facts): Promise<Answer<PutAwayFile>> {
  const action = actionOf(facts);
  if (!action.ok) return action;
  const { folder, version } = facts;
  const { dir, base } = posix.parse(facts.path);
  return inDirectory({ folder, directory: dir }, async (held) => {
    const from = held.at(base);
    const found = await lstat(from, { bigint: true });
    if (!found.isFile() || !looksTheSame(versionOf(found), version))
      throw new FileChangedError('the file is no longer the one that was accepted', { code: 'changed' });
    return { ok: true, value: await action.value.run(from, versionOf(found)) };
  });
}

/** @throws as the system does when no name may be added to or removed from the directory, or from the one it would be made in */
async function requireWritable(folder: string, directory: string): Promise<void> {
  try {
    await inDirectory({ folder, directory }, (held) => access(held.at('.'), constants.W_OK | constants.X_OK));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || directory === '' || directory === '.') throw error;
    await requireWritable(folder, posix.dirname(directory));
  }
}
