import { constants } from 'node:fs';
import { copyFile, link, lstat, mkdir, open, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join, parse, relative, sep } from 'node:path';
import { isSameVersion } from '../pipeline/facts.ts';
import type { Facts, FileVersion } from '../pipeline/facts.ts';
import type { Failure } from '../pipeline/failure.ts';
import { syncPath } from '../ledger/sync-path.ts';
import { folderAway } from '../pipeline/breaker.ts';
import type { Answer, LocalFiles } from '../pipeline/ports.ts';
import { isImportLink } from '../routing/import-link.ts';
import { renderDirectory } from '../routing/template.ts';
import { codeOf } from '../service/errors.ts';
import { hashFile } from '../service/opened-file.ts';
import { versionOf } from '../watch/observation.ts';
import { toFileFailure } from './failure.ts';

/** Free names tried for a moved file before it is left where it is. */
const mostNames = 10_000;

/**
 * The accepted files on disk.
 *
 * @param whyAway asks the disk why what is missing in a watched folder proves nothing (unmounted, renamed), or null; told the
 *   path of a file that is then taken for vanished
 */
export function createLocalFiles(whyAway: (folder: string, missing?: string) => Promise<string | null>): LocalFiles {
  /** Asked after the file was not found or not read: an answer from before says nothing of that moment. */
  const failureOf = async ({ folder, path }: Facts, error: unknown): Promise<Failure> => {
    const failure = toFileFailure(error);
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

  const dispose = async (facts: Facts): Promise<{ path: string; version: FileVersion } | null> => {
    const { afterReady } = facts;
    if (afterReady.kind !== 'move') {
      await unlink(pathOf(facts));
      return null;
    }
    const directory = renderDirectory(afterReady.to, {
      path: facts.path,
      modifiedMs: Number(BigInt(facts.version.mtimeNs) / 1_000_000n),
    });
    const path = dirname(facts.path) === (directory || '.') ? facts.path : await move(facts, directory);
    return { path, version: versionOf(await lstat(join(facts.folder, path), { bigint: true })) };
  };

  return {
    check,
    hash: (facts, signal) => answer(facts, () => hashFile(facts.folder, pathOf(facts), facts.version, signal)),
    dispose: (facts) => answer(facts, () => dispose(facts)),
  };
}

/** Moves without ever overwriting: the new name is linked, which fails if it exists, then the old one is taken away. */
async function move(facts: Facts, directory: string): Promise<string> {
  const target = join(facts.folder, directory);
  await mkdir(target, { recursive: true });
  const inside = relative(await realpath(facts.folder), await realpath(target));
  if (inside === '..' || inside.startsWith(`..${sep}`)) throw new Error(`${target} leads out of the watched folder`);
  const { name, ext } = parse(facts.path);
  for (let n = 1; n <= mostNames; n += 1) {
    const path = join(directory, n === 1 ? `${name}${ext}` : `${name} (${n})${ext}`);
    if (await place(facts, join(facts.folder, path))) return path.split(sep).join('/');
  }
  throw new Error(`${target} holds ${mostNames} files of this name`);
}

/** @returns false when the name is taken */
async function place(facts: Facts, to: string): Promise<boolean> {
  const from = pathOf(facts);
  try {
    await link(from, to);
    await unlink(from);
    await syncPath(dirname(to));
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return finishMove(from, to);
    if (code === 'EXDEV') return copyAcross(facts, to);
    // File systems without hard links (exFAT, some shares): no atomic way, so look, then rename.
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'EOPNOTSUPP') return renameIfFree(from, to);
    throw error;
  }
}

/** The name is taken, unless by this very file: a crash came between its new name and the end of the old one. */
async function finishMove(from: string, to: string): Promise<boolean> {
  const [one, other] = await Promise.all([lstat(from, { bigint: true }), lstat(to, { bigint: true })]);
  if (one.ino !== other.ino || one.dev !== other.dev) return false;
  await unlink(from);
  await syncPath(dirname(to));
  return true;
}

async function renameIfFree(from: string, to: string): Promise<boolean> {
  try {
    await (await open(to, 'wx')).close();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await rename(from, to);
  } catch (error) {
    await unlink(to);
    throw error;
  }
  await syncPath(dirname(to));
  return true;
}

/** Another file system below the folder: copy under a hidden name, sync, put in place, and only then take the original away. */
async function copyAcross(facts: Facts, to: string): Promise<boolean> {
  const from = pathOf(facts);
  const partial = join(dirname(to), `.dropcast-${facts.id}.part`);
  await rm(partial, { force: true });
  try {
    await copyFile(from, partial, constants.COPYFILE_EXCL);
    const copy = await open(partial, 'r+');
    try {
      await copy.sync();
    } finally {
      await copy.close();
    }
    await link(partial, to);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(partial, { force: true });
  }
  await syncPath(dirname(to));
  await unlink(from);
  return true;
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
