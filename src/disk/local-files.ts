import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstalledService } from '../config/installed-service.ts';
import { looksTheSame, versionOf } from '../pipeline/file/file-version.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import type { Answer, LocalFiles } from '../pipeline/file/ports.ts';
import { folderAway } from '../pipeline/pause.ts';
import { isImportLink } from '../routing/import-link.ts';
import { hashAccepted } from './accepted-file.ts';
import { toDiskFailure } from './failure.ts';
import { checkPutAway, putAway } from './put-away/put-away.ts';

/**
 * The accepted files on this machine, for the pipeline. Nothing here throws for what a disk does: it becomes a `Failure`.
 *
 * @param whyAway says why a file that is missing in a watched folder proves nothing (unmounted, renamed), or null if the folder is
 *   fine; called after a file was not found or could not be read, with its path if it would count as vanished
 * @param service that this process is, to name the command that allows a read-only folder; null when it is not installed as one
 */
export function createLocalFiles(
  whyAway: (folder: string, missing?: string) => Promise<string | null>,
  service: InstalledService | null = null,
): LocalFiles {
  /** Asks about the folder only now: an answer from before the failure says nothing about that moment. */
  const failureOf = async ({ folder, path }: Facts, error: unknown): Promise<Failure> => {
    const failure = toDiskFailure(error, service);
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

  return {
    check: async (facts) => {
      if (facts.sourceUrl === null && isImportLink(facts.path)) return noAddress;
      const found = await answer(facts, () => lstat(join(facts.folder, facts.path), { bigint: true }));
      if (!found.ok) return found.failure;
      return found.value.isFile() && looksTheSame(versionOf(found.value), facts.version) ? null : changed;
    },
    hash: (facts, signal) => answer(facts, () => hashAccepted(facts, signal)),
    checkDisposal: async (facts) => {
      const checked = await answer(facts, () => checkPutAway(facts));
      return checked.ok ? checked.value : checked.failure;
    },
    dispose: async (facts) => {
      const done = await answer(facts, () => putAway(facts));
      return done.ok ? done.value : done;
    },
  };
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
