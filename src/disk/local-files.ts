import { lstat, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { durationOf } from '@dropcast/media';
import { succeeds } from '../errno.ts';
import { isRefusal, whyClosed } from '../read-permission.ts';
import { unlessHung } from '../unless-hung.ts';
import type { InstalledService } from '../config/installed-service.ts';
import { looksTheSame, versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import type { Answer, FileAt, LocalFiles } from '../pipeline/file/ports.ts';
import { folderAway } from '../pipeline/pause.ts';
import { isImportLink } from '../routing/import-link.ts';
import { hashAccepted, openRegular } from './accepted-file.ts';
import { ChecksumReader } from './checksums/read-checksums.ts';
import { closedFile, forPutAway, toDiskFailure } from './failure.ts';
import { putAway } from './put-away/put-away.ts';
import { RenamedError } from './put-away/private-directory.ts';
import { requireWatched, inDirectory } from './held-directory.ts';
import type { IsWatched, Watched } from './held-directory.ts';

interface LocalFilesWorld {
  /**
   * Returns why a missing file in a watched folder proves nothing (unmounted, renamed), or null if the folder is fine.
   * Called after a file was not found or could not be read, with its path if the file would count as vanished.
   */
  whyAway(folder: string, missing?: string): Promise<string | null>;
  /** Returns the process that currently has a file open for writing, as far as visible; null if there is none. */
  writerOf(version: FileVersion): Promise<string | null>;
  isSidecarUsed(folder: string, sidecarPath: string): Promise<boolean>;
  /** Files in all other folders fail; see `requireWatched`. */
  readonly isWatched: IsWatched;
  /**
   * The installed service that this process runs as, used to name the command that grants write access to a read-only
   * folder; null if the process is not installed as a service.
   */
  readonly service: InstalledService | null;
}

type FileLocation = Pick<Facts, 'folder' | 'path'>;

/**
 * Gives the pipeline access to the accepted files on this machine. Disk errors are never thrown: each becomes a
 * `Failure`.
 */
export function createLocalFiles({
  whyAway,
  writerOf,
  isSidecarUsed,
  isWatched,
  service,
}: LocalFilesWorld): LocalFiles {
  /** Checks the folder only now, because an earlier answer says nothing about the moment of the failure. */
  const failureOf = async ({ folder, path }: FileLocation, error: unknown): Promise<Failure> => {
    const failure = toDiskFailure(error, service);
    const isOfPlace = failure.kind === 'vanished' || failure.kind === 'transient' || failure.code === 'unreadable';
    if (!isOfPlace) return failure;
    return (await awayFailure(folder, failure.kind === 'vanished' ? path : undefined)) ?? failure;
  };

  const awayFailure = async (folder: string, missing?: string): Promise<Failure | null> => {
    const why = await whyAway(folder, missing);
    return why === null ? null : { kind: 'suspended', code: folderAway, message: `${folder}: ${why}` };
  };

  const answer = async <F extends FileLocation, T>(
    row: F,
    work: (file: Watched<F>) => Promise<T>,
  ): Promise<Answer<T>> => {
    try {
      return { ok: true, value: await work(requireWatched(row, isWatched)) };
    } catch (error) {
      return { ok: false, failure: await withCommand(row, await failureOf(row, error)) };
    }
  };

  /** Turns a put-away failure into a wait, because a finished file has not failed. */
  const waitOf = async (facts: Facts, error: unknown): Promise<Failure> => {
    const failure = await failureOf(facts, error);
    if (failure.code !== 'unreadable') return forPutAway(failure, facts.folder);
    // The error names the path that the file had while it was out of reach.
    return {
      ...failure,
      kind: 'transient',
      message: await whyClosed(join(facts.folder, facts.path), 'file', 'EACCES'),
    };
  };

  /** Waits while the folder responds. On a share whose server is down, a call may never return. */
  const whileAnswering = async <T>(folder: string, calls: Promise<Answer<T>>): Promise<Answer<T>> => {
    for (;;) {
      const found = await unlessHung(calls);
      if (found !== null) return found;
      const failure = await awayFailure(folder);
      if (failure !== null) return { ok: false, failure };
    }
  };

  const checksums = new ChecksumReader();
  return {
    check: async (facts) => {
      if (facts.sourceUrl === null && isImportLink(facts.path)) return noAddress;
      const looking = answer(facts, (file) => lstat(join(file.folder, file.path), { bigint: true }));
      const found = await whileAnswering(facts.folder, looking);
      if (!found.ok) return found.failure;
      return found.value.isFile() && looksTheSame(versionOf(found.value), facts.version) ? null : changed;
    },
    hash: (facts, signal, algorithm) => answer(facts, (file) => hashAccepted(file, signal, algorithm)),
    checksums: async (file) => {
      const read = await answer(file, (watched) => checksums.checksumsOf(watched));
      const said = read.ok ? read.value : read;
      const away = said.ok || said.failure.kind !== 'mismatch' ? null : await awayFailure(file.folder);
      return away === null ? said : { ok: false, failure: away };
    },
    dispose: async (facts, signal, isHosted) => {
      try {
        return await putAway(requireWatched(facts, isWatched), { signal, writerOf, isSidecarUsed, isHosted });
      } catch (error) {
        if (!(error instanceof RenamedError)) return { ok: false, failure: await waitOf(facts, error) };
        const failure = await waitOf(facts, error.cause);
        const told = { ...failure, message: `${failure.message}; ${error.message}` };
        return { ok: false, failure: told, ...(await renamedTo(facts, error.newName)) };
      }
    },
  };
}

/** Returns the new place of a renamed file; empty if a different file has that name. */
async function renamedTo({ folder, path, version }: Facts, newName: string): Promise<{ readonly file?: FileAt }> {
  const newPath = posix.join(posix.dirname(path), newName);
  const stats = await lstat(join(folder, newPath), { bigint: true }).catch(() => null);
  const now = stats === null ? null : versionOf(stats);
  const isIt = now?.ino === version.ino && now.birthtimeNs === version.birthtimeNs;
  return isIt ? { file: { path: newPath, version: now } } : {};
}

/** Names the command that grants access if a directory above the file refuses it. */
async function withCommand({ folder, path }: FileLocation, failure: Failure): Promise<Failure> {
  const { kind, code } = failure;
  if (kind !== 'transient' || !isRefusal(code)) return failure;
  return closedFile(await whyClosed(join(folder, path), 'file', code));
}

/** Whether the path exists, as any kind of file. */
export async function isThere(folder: string, path: string): Promise<boolean> {
  return succeeds(stat(join(folder, path)));
}

/** Failure of a link file without an address, which never becomes a video, even on a retry. */
const noAddress: Failure = {
  kind: 'permanent',
  code: 'no_address',
  message: 'the link file contains no address that can be imported; correct it, and dropcast will try it again',
};

const changed: Failure = {
  kind: 'changed',
  code: 'changed',
  message: 'the file is no longer the one that was accepted',
};

/**
 * Returns a file's duration according to its container. Reads only a few pieces of the file and follows no link out of
 * its folder.
 *
 * @returns seconds; null if the container does not state the duration, the format is unknown, or the file cannot be
 *   read
 */
export async function mediaDuration(folder: string, path: string): Promise<number | null> {
  try {
    await using file = await inDirectory({ folder, directory: posix.dirname(path) }, (held) =>
      openRegular(held.at(posix.basename(path))),
    );
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    return await durationOf(async (position, length) => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    }, stats.size);
  } catch {
    return null;
  }
}
