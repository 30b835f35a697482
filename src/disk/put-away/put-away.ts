import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { access, lstat, stat, statfs } from 'node:fs/promises';
import { posix } from 'node:path';
import { FileVanishedError, FileChangedError } from '@dropcast/client';
import { versionOf } from '../../pipeline/file/file-version.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { mustAskFirst } from '../../pipeline/file/failure.ts';
import type { Answer, FileAt } from '../../pipeline/file/ports.ts';
import { errnoOf } from '../../errno.ts';
import { inDirectory } from '../held-directory.ts';
import type { Watched, HeldDirectory } from '../held-directory.ts';
import { actionOf } from './actions.ts';
import type { PutAwayAction, PutAwayFile } from './actions.ts';
import { inPrivateDirectory, RenamedError } from './private-directory.ts';
import { hasContent, openSent, requireNoWriter, requireSameFile } from './sent-file.ts';
import type { ContentChecks } from './sent-file.ts';
import type { SidecarFile } from '../../routing/plan.ts';
import { renamedSidecar } from '../../routing/sidecar.ts';

/**
 * Carries out a file's `after_ready` action. Moves the file out of everyone's reach, reads it again, and deletes or
 * moves it only if its content is what was sent. Otherwise the file gets its name back. Its sidecar goes with it. After
 * a crash at any point, the next call finishes the work.
 *
 * @throws {FileVanishedError} the file is missing, and no earlier call has put it away
 * @throws {FileChangedError} the content is no longer what was sent
 * @throws {FileInUseError} a process has the file open for writing
 * @throws {RenamedError} one of the other errors occurred, and the file has another name now
 * @throws {NotInFolderError} a part of the path is a link, or leads out of the folder
 * @throws {AbortedError} the signal was aborted @throws system errors
 */
export async function putAway(
  facts: Watched<Facts>,
  { isHosted, ...checks }: SidecarChecks & { readonly isHosted: boolean },
): Promise<Answer<PutAwayFile>> {
  const action = actionOf(facts);
  if (!action.ok) return action;
  const { folder, path } = facts;
  // Checked before gigabytes are read. If nothing can be written, every retry would read them again.
  for (const directory of action.value.directories) await requireWritable(facts, directory);
  if (!isHosted) return { ok: false, failure: mustAskFirst };
  return inDirectory({ folder, directory: posix.dirname(path) }, async (held) => {
    if (await action.value.isDone(held)) return { ok: true, value: await whereItIs(facts, held) };
    const value = await carryOut(action.value, facts, { held, checks });
    await putAwaySidecar(facts, action.value, { file: value ?? null, checks });
    if (value === undefined) throw new FileVanishedError('the file is gone', { code: 'vanished' });
    return { ok: true, value };
  });
}

async function whereItIs({ path }: Facts, held: HeldDirectory): Promise<PutAwayFile> {
  return { path, version: versionOf(await lstat(held.at(posix.basename(path)), { bigint: true })) };
}

/** @returns undefined if the file is missing and no earlier call has put it away */
async function carryOut(
  action: PutAwayAction,
  facts: Facts,
  { held, checks }: { readonly held: HeldDirectory; readonly checks: ContentChecks },
): Promise<PutAwayFile | undefined> {
  const { id, version } = facts;
  const name = posix.basename(facts.path);
  const inspect = async (): Promise<void> => {
    const stats = await lstat(held.at(name), { bigint: true });
    requireSameFile(stats, version);
    await requireNoWriter(stats, checks);
  };
  const done = await inPrivateDirectory(held, { name, id, inspect }, async (own, isResumed) => {
    const path = own.at(name);
    await using sent = await openSent(path, facts, checks);
    // Only a crash can have left a copy of ours.
    const hasCopyAt = async (other: string): Promise<boolean> => isResumed && sent.hasCopyAt(other);
    return { file: await action.run({ ...sent, hasCopyAt, path, name, id }) };
  });
  return done === null ? action.find(isItIn(facts, checks)) : done.file;
}

/** Returns a test for the file itself or its copy on another file system. */
function isItIn(facts: Facts, { signal }: ContentChecks) {
  const { version } = facts;
  return async (path: string, stats: BigIntStats): Promise<boolean> => {
    if (Number(stats.size) !== version.size) return false;
    const isItself = String(stats.ino) === version.ino && String(stats.birthtimeNs) === version.birthtimeNs;
    return isItself || hasContent(path, stats.size, facts, signal);
  };
}

/**
 * @throws the system error if names may not be added to or removed from the directory, or from the one that it would be
 *   created in
 */
async function requireWritable(facts: Pick<Facts, 'folder' | 'version'>, directory: string): Promise<void> {
  try {
    await inDirectory({ folder: facts.folder, directory }, async (held) => {
      await access(held.at('.'), constants.W_OK | constants.X_OK);
      await requireRoom(held.at('.'), facts.version);
    });
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || directory === '' || directory === '.') throw error;
    await requireWritable(facts, posix.dirname(directory));
  }
}

/**
 * Requires room for a copy on another file system; otherwise each try would copy until the disk is full. A file system
 * that reports no size is accepted.
 */
async function requireRoom(directory: string, { dev, size }: FileVersion): Promise<void> {
  if (String((await stat(directory, { bigint: true })).dev) === dev) return;
  const { blocks, bavail, bsize } = await statfs(directory);
  if (blocks > 0 && bavail * bsize < size) throw new NoRoomError('there is no room for a copy of the file');
}

/** Thrown when a file does not fit on the file system that it is to be moved to. */
class NoRoomError extends Error {
  override readonly name = 'NoRoomError';
  readonly code = 'ENOSPC';
}

interface SidecarChecks extends ContentChecks {
  /** Whether the sidecar still has another existing video. */
  readonly isSidecarUsed: (folder: string, sidecarPath: string) => Promise<boolean>;
}

/**
 * Moves or deletes a video's sidecar and proofs together with it, and with the same care. Otherwise the sidecar would
 * title the next file of that name, and the done marker would release it. A sidecar or proof stays if another video
 * needs it, or if its content is no longer what was applied.
 *
 * @param file the video's new place; null if it was deleted or is gone
 * @throws system errors; the next call continues
 */
export async function putAwaySidecar(
  facts: Facts,
  action: PutAwayAction,
  { file, checks }: { readonly file: FileAt | null; readonly checks: SidecarChecks },
): Promise<void> {
  const { sidecar, proofs = [] } = facts.plan ?? {};
  const besides = sidecar === undefined ? proofs : [sidecar, ...proofs];
  for (const beside of besides) await putAwayOne(beside, facts, { action, file, checks });
}

async function putAwayOne(
  sidecar: SidecarFile,
  { folder, path, id }: Facts,
  {
    action,
    file,
    checks,
  }: { readonly action: PutAwayAction; readonly file: FileAt | null; readonly checks: SidecarChecks },
): Promise<void> {
  const name = posix.basename(sidecar.path);
  const newName = file === null ? name : renamedSidecar(name, posix.basename(path), posix.basename(file.path));
  const inspect = async (): Promise<void> => {
    if (await checks.isSidecarUsed(folder, sidecar.path)) throw new StillUsedError('another video has it');
  };
  try {
    await inDirectory({ folder, directory: posix.dirname(sidecar.path) }, (held) =>
      inPrivateDirectory(held, { name, id, inspect }, async (own) => {
        await using sent = await openSent(
          own.at(name),
          { version: null, sha256: sidecar.sha256, sourceUrl: null },
          checks,
        );
        await action.run({ ...sent, path: own.at(name), name: newName, id });
      }),
    );
  } catch (error) {
    if (!staysWhereItIs(error)) throw error;
  }
}

class StillUsedError extends Error {
  override readonly name = 'StillUsedError';
}

/** Whether the error leaves a sidecar in place. Its directory may be gone by now, like the video. */
function staysWhereItIs(error: unknown): boolean {
  if (error instanceof RenamedError) return staysWhereItIs(error.cause);
  return error instanceof StillUsedError || error instanceof FileChangedError || errnoOf(error) === 'ENOENT';
}
