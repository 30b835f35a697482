import { lstat, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { unlessHung } from '../unless-hung.ts';
import type { InstalledService } from '../config/installed-service.ts';
import { looksTheSame, versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import type { Answer, FileAt, LocalFiles } from '../pipeline/file/ports.ts';
import { folderAway } from '../pipeline/pause.ts';
import { isImportLink } from '../routing/import-link.ts';
import { hashAccepted } from './accepted-file.ts';
import { ChecksumReader } from './checksums/read-checksums.ts';
import { forPutAway, toDiskFailure } from './failure.ts';
import { putAway } from './put-away/put-away.ts';
import { RenamedError } from './put-away/private-directory.ts';

export interface LocalFilesWorld {
  /**
   * Says why a file that is missing in a watched folder proves nothing (unmounted, renamed), or null if the folder is fine. Called after a
   * file was not found or could not be read, with its path if it would count as vanished.
   */
  whyAway(folder: string, missing?: string): Promise<string | null>;
  /** Which process has a file open for writing at this moment, as far as can be seen; null for none. */
  writerOf(version: FileVersion): Promise<string | null>;
  /** Whether a sidecar still has another video that is there. */
  isSidecarUsed(folder: string, sidecarPath: string): Promise<boolean>;
  /** That this process is, to name the command that allows a read-only folder; null when it is not installed as one. */
  readonly service: InstalledService | null;
}

/** The accepted files on this machine, for the pipeline. Nothing here throws for what a disk does: it becomes a `Failure`. */
export function createLocalFiles({ whyAway, writerOf, isSidecarUsed, service }: LocalFilesWorld): LocalFiles {
  /** Asks about the folder only now: an answer from before the failure says nothing about that moment. */
  const failureOf = async ({ folder, path }: Facts, error: unknown): Promise<Failure> => {
    const failure = toDiskFailure(error, service);
    if (failure.kind !== 'vanished' && failure.kind !== 'transient') return failure;
    return (await awayFailure(folder, failure.kind === 'vanished' ? path : undefined)) ?? failure;
  };

  const awayFailure = async (folder: string, missing?: string): Promise<Failure | null> => {
    const why = await whyAway(folder, missing);
    return why === null ? null : { kind: 'suspended', code: folderAway, message: `${folder}: ${why}` };
  };

  const answer = async <T>(facts: Facts, work: () => Promise<T>): Promise<Answer<T>> => {
    try {
      return { ok: true, value: await work() };
    } catch (error) {
      return { ok: false, failure: await failureOf(facts, error) };
    }
  };

  /** Waits as long as the folder answers: on a share whose server is gone, a call may never return. */
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
      const looking = answer(facts, () => lstat(join(facts.folder, facts.path), { bigint: true }));
      const found = await whileAnswering(facts.folder, looking);
      if (!found.ok) return found.failure;
      return found.value.isFile() && looksTheSame(versionOf(found.value), facts.version) ? null : changed;
    },
    hash: (facts, signal, algorithm) => answer(facts, () => hashAccepted(facts, signal, algorithm)),
    checksums: async (file) => {
      const said = await checksums.checksumsOf(file);
      const away = said.ok || said.failure.kind !== 'mismatch' ? null : await awayFailure(file.folder);
      return away === null ? said : { ok: false, failure: away };
    },
    dispose: async (facts, signal, isHosted) => {
      try {
        return await putAway(facts, { signal, writerOf, isSidecarUsed, isHosted });
      } catch (error) {
        if (!(error instanceof RenamedError)) return { ok: false, failure: forPutAway(await failureOf(facts, error)) };
        const failure = forPutAway(await failureOf(facts, error.cause));
        const told = { ...failure, message: `${failure.message}; ${error.message}` };
        return { ok: false, failure: told, ...(await renamedTo(facts, error.newName)) };
      }
    },
  };
}

/** Where an accepted file is that got another name; nothing when the file of that name is another one. */
async function renamedTo({ folder, path, version }: Facts, newName: string): Promise<{ readonly file?: FileAt }> {
  const newPath = posix.join(posix.dirname(path), newName);
  const stats = await lstat(join(folder, newPath), { bigint: true }).catch(() => null);
  const now = stats === null ? null : versionOf(stats);
  const isIt = now?.ino === version.ino && now.birthtimeNs === version.birthtimeNs;
  return isIt ? { file: { path: newPath, version: now } } : {};
}

/** Whether something is at this place, whatever it is. */
export async function isThere(folder: string, path: string): Promise<boolean> {
  return stat(join(folder, path)).then(
    () => true,
    () => false,
  );
}

/** A link file is not a video, even if somebody asks for a retry. */
const noAddress: Failure = {
  kind: 'permanent',
  code: 'no_address',
  message: 'the link file contains no address that can be imported; correct it, and dropcast takes it again',
};

const changed: Failure = {
  kind: 'changed',
  code: 'changed',
  message: 'the file is no longer the one that was accepted',
};
