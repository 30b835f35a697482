import { constants } from 'node:fs';
import { access, lstat, stat, unlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { InstalledService } from '../config/installed-service.ts';
import { isSameVersion, versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { folderAway } from '../pipeline/pause.ts';
import type { Answer, LocalFiles } from '../pipeline/file/ports.ts';
import { isImportLink } from '../routing/import-link.ts';
import { renderDirectory } from '../routing/template.ts';
import { FileChangedError, codeOf, hashFile } from '@dropcast/client';
import { toFileFailure } from '../host/failure.ts';
import { inDirectory } from './held-directory.ts';
import { moveFile } from './move-file.ts';

/**
 * The accepted files on disk.
 *
 * @param whyAway asks the disk why what is missing in a watched folder proves nothing (unmounted, renamed), or null; told the
 *   path of a file that is then taken for vanished
 * @param service whose unit may be what keeps a folder read-only; null for none
 */
export function createLocalFiles(
  whyAway: (folder: string, missing?: string) => Promise<string | null>,
  service: InstalledService | null = null,
): LocalFiles {
  /** Asked after the file was not found or not read: an answer from before says nothing of that moment. */
  const failureOf = async ({ folder, path }: Facts, error: unknown): Promise<Failure> => {
    const failure = toFileFailure(error, service);
    if (failure.kind !== 'vanished' && failure.kind !== 'transient') return failure;
    const away = await whyAway(folder, failure.kind === 'vanished' ? path : undefined);
    return away === null ? failure : { kind: 'suspended', code: folderAway, message: `${folder}: ${away}` };
  };

  const answer = async <T>(facts: Facts, work: () => Promise<T>): Promise<Answer<T>> => {
    try {
      return { ok: true, value: await work() };
    } catch (error) {
      return { ok: false, failure: await failureOf(facts, error) };
    }
  };

  const check = async (facts: Facts): Promise<Failure | null> => {
    if (facts.sourceUrl === null && isImportLink(facts.path)) return noAddress;
    const found = await answer(facts, () => lstat(pathOf(facts), { bigint: true }));
    if (!found.ok) return found.failure;
    return found.value.isFile() && isSameVersion(versionOf(found.value), facts.version) ? null : changed;
  };

  return {
    check,
    hash: (facts, signal) => answer(facts, () => hashFile(facts.folder, pathOf(facts), facts.version, signal)),
    checkDisposal: async (facts) => {
      const writable = await answer(facts, () => requireWritable(facts));
      return writable.ok ? null : writable.failure;
    },
    dispose: (facts) => answer(facts, () => dispose(facts)),
  };
}

/** The directories that lose and gain a name. */
async function requireWritable(facts: Facts): Promise<void> {
  const { dir } = posix.parse(facts.path);
  const to = targetOf(facts);
  if (to === dir) return;
  for (const directory of to === null ? [dir] : [dir, to]) await requireNames(facts.folder, directory);
}

/** @throws as the system does when no name may be made or taken away in the directory, or where it would be made */
async function requireNames(folder: string, directory: string): Promise<void> {
  try {
    await inDirectory({ folder, directory }, (held) => access(held.at('.'), constants.W_OK | constants.X_OK));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || directory === '' || directory === '.') throw error;
    await requireNames(folder, posix.dirname(directory));
  }
}

/** Deletes or moves the file, from the directory that holds it now. Null when it is deleted. */
async function dispose(facts: Facts): Promise<{ path: string; version: FileVersion } | null> {
  const { folder } = facts;
  const { dir, base } = posix.parse(facts.path);
  const to = targetOf(facts);
  return inDirectory({ folder, directory: dir }, async (held) => {
    const from = held.at(base);
    const found = await lstat(from, { bigint: true });
    if (!found.isFile() || !isSameVersion(versionOf(found), facts.version))
      throw new FileChangedError(changed.message, { code: changed.code });
    if (to === null) {
      await unlink(from);
      return null;
    }
    if (to === dir) return { path: facts.path, version: versionOf(found) };
    return inDirectory({ folder, directory: to, make: true }, async (target) => {
      const name = await moveFile(from, target, facts.id);
      if (name === null) return { path: facts.path, version: versionOf(found) };
      const moved = await lstat(target.at(name), { bigint: true });
      return { path: posix.join(to, name), version: versionOf(moved) };
    });
  });
}

/** The directory that it goes to; null when it goes nowhere. */
function targetOf({ path, version, afterReady }: Facts): string | null {
  if (afterReady.kind !== 'move') return null;
  return renderDirectory(afterReady.to, { path, modifiedMs: Number(BigInt(version.mtimeNs) / 1_000_000n) });
}

/** Whether something is at this place, whatever it is. */
export async function isThere(folder: string, path: string): Promise<boolean> {
  return stat(join(folder, path)).then(
    () => true,
    () => false,
  );
}

/** The text of a link is no video, even if somebody asks for a retry. */
const noAddress: Failure = {
  kind: 'permanent',
  code: 'no_address',
  message: 'the link file names no address that can be imported: mend it, it is then taken anew',
};

const changed: Failure = {
  kind: 'changed',
  code: 'changed',
  message: 'the file is no longer the one that was accepted',
};

function pathOf(facts: Pick<Facts, 'folder' | 'path'>): string {
  return join(facts.folder, facts.path);
}
