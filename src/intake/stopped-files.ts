import type { Facts } from '../pipeline/file/facts.ts';
import { isOfLocalFile } from '../pipeline/file/local-trouble.ts';
import type { FileEvent } from '../pipeline/file/machine.ts';
import { isClosedDirectory, isHeldUnread } from '../pipeline/file/reasons.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import type { Runner } from '../pipeline/steps/runner.ts';
import type { Logger } from '../log/logger.ts';
import { isRoutedRegularly } from './reroute.ts';
import { errnoOf } from '../errno.ts';
import { giveBackAll, rowOfPrivateDirectory } from '../disk/put-away/private-directory.ts';
import type { FileStore } from '../pipeline/file/ports.ts';
import type { Rows } from '../pipeline/file/rows.ts';

interface StoppedFilesWorld {
  readonly store: RowStore<'stopped by disk'>;
  readonly runner: Pick<Runner, 'apply'>;
  /** Whether the file is at its path, unchanged and readable. */
  readonly isReadable: (facts: Facts) => Promise<boolean>;
  readonly isClosed: (facts: Facts) => Promise<boolean>;
}

export type StoppedFiles = ReturnType<typeof createStoppedFiles>;

/**
 * Runs after a scan of a sound folder and resumes files that were stopped because they were missing or unreadable, once
 * they are readable. The watcher does not offer such a file again if its version is unchanged, as when its directory
 * was closed or it was missing while dropcast was stopped.
 *
 * @returns paths of files that were held as unreadable and are now readable, to be judged as new files
 */
export function createStoppedFiles(world: StoppedFilesWorld) {
  /** Folder → id of the last file that earlier scans handled. */
  const cursors = new Map<string, string>();
  return async (folder: string): Promise<readonly string[]> => {
    const readable: string[] = [];
    for (;;) {
      const after = cursors.get(folder) ?? '';
      const files = await world.store.rows({ group: 'stopped by disk', folder, after, limit: mostAtOnce });
      const found = await continued(files, world);
      readable.push(...found.readable);
      const last = files.at(-1);
      if (last === undefined || files.length < mostAtOnce) {
        cursors.delete(folder);
        return readable;
      }
      cursors.set(folder, last.id);
      // Whatever stops these files probably stops the rest too, so later scans look at those.
      if (found.count === 0) return readable;
    }
  };
}

/** Batch size. Opening 100,000 files after each scan would keep a share busy. */
const mostAtOnce = 500;

async function continued(
  files: readonly Facts[],
  { runner, isReadable, isClosed }: StoppedFilesWorld,
): Promise<{ readonly count: number; readonly readable: readonly string[] }> {
  const readable: string[] = [];
  let count = 0;
  for (const facts of files) {
    if (isClosedDirectory(facts) ? await isClosed(facts) : !(await isReadable(facts))) continue;
    const event = onReturn(facts);
    if (event !== null) await runner.apply(facts.id, event);
    else if (isHeldUnread(facts)) readable.push(facts.path);
    else continue;
    count += 1;
  }
  return { count, readable };
}

/** Returns the event that resumes a readable file; null if it was not stopped or counts as a new file. Pure. */
export function onReturn(facts: Facts): FileEvent | null {
  const { end, notBefore, lastFailure } = facts;
  if (lastFailure === null || !isOfLocalFile(lastFailure)) return null;
  if (isClosedDirectory(facts)) return { type: 'FILE_GONE' };
  if (end === 'failed') return { type: 'RETRY' };
  return end === null && notBefore !== null ? { type: 'GO' } : null;
}

export type HeldFiles = ReturnType<typeof createHeldFiles>;

/**
 * Reroutes files that have no route, or whose channel the service does not have. A regular check is needed because no
 * event reports a sidecar removed before it settled, or a channel refused after the rules changed. Owns one timer.
 *
 * @param of.reroute applies the rules and the sidecar to one file again. Returns false if that is not possible now
 * @param of.intervalMs returns the time between two regular checks in milliseconds, at most 2^31 - 1
 */
export function createHeldFiles(of: {
  readonly store: RowStore<'unrouted'>;
  readonly logger: Logger;
  readonly reroute: (facts: Facts) => Promise<boolean>;
  readonly intervalMs: () => number;
}) {
  let timer: NodeJS.Timeout | undefined;
  let check: Promise<void> = Promise.resolve();
  /** Number of calls to `rerouteAll`, and the last call for which every file was routed. */
  let wanted = 0;
  let finished = 0;
  let isClosed = false;

  const reroute = async (): Promise<void> => {
    const now = wanted;
    const isAll = finished < now;
    const rows = await of.store.rows({ group: 'unrouted' });
    let areAllRouted = true;
    for (const facts of isAll ? rows : rows.filter(isRoutedRegularly)) {
      if (isClosed) return;
      if (!(await of.reroute(facts))) areAllRouted = false;
    }
    if (areAllRouted) finished = Math.max(finished, now);
  };

  const start = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => {
      check = reroute()
        .catch((err: unknown) => of.logger.error('Cannot check sidecars again', { err }))
        .finally(start);
    }, of.intervalMs()).unref();
  };

  return {
    start,
    /**
     * Reroutes all files for a new configuration. If that fails, or is not possible for one of them, the next regular
     * check repeats it. Stops early when disposed of.
     */
    rerouteAll: async (): Promise<void> => {
      wanted += 1;
      await reroute();
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      isClosed = true;
      clearTimeout(timer);
      await check;
    },
  };
}

export type LeftBehind = ReturnType<typeof createLeftBehind>;

interface LeftBehindWorld {
  readonly store: Pick<FileStore, 'load'>;
  readonly rows: Pick<Rows, 'claim'>;
  readonly logger: Logger;
}

/**
 * Handles a private directory, found by a scan, that holds a file being put away. The put-away round finishes what a
 * crash left there, as long as the row says so. If the ledger is lost or the parent directory was renamed, nothing else
 * would look inside, so the files get their names back.
 *
 * The directory is relative to the folder.
 */
export function createLeftBehind({ store, rows, logger }: LeftBehindWorld) {
  const giveBack = async (folder: string, directory: string): Promise<void> => {
    try {
      for (const path of await giveBackAll(folder, directory))
        logger.warn('Restored the name of a file that was about to be moved or deleted', { folder, path });
    } catch (error) {
      // The put-away round was faster.
      if (errnoOf(error) === 'ENOENT') return;
      logger.warn('Cannot restore the name of a file that was about to be moved or deleted', {
        folder,
        path: directory,
        err: error,
      });
    }
  };
  return async (folder: string, directory: string): Promise<void> => {
    const id = rowOfPrivateDirectory(directory);
    if (id === null) return;
    if ((await store.load(id)) === null) return giveBack(folder, directory);
    await rows.claim(id, async ({ facts }) => {
      if (!isToBePutAway(facts)) await giveBack(folder, directory);
    });
  };
}

function isToBePutAway({ disposal }: Facts): boolean {
  return disposal === 'pending' || disposal === 'waiting';
}
