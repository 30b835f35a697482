import { errnoOf } from '../errno.ts';
import { giveBackAll, rowOfPrivateDirectory } from '../disk/put-away/private-directory.ts';
import type { Logger } from '../log/logger.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { FileStore } from '../pipeline/file/ports.ts';
import type { Rows } from '../pipeline/file/rows.ts';

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
 * @param directory relative to the folder
 */
export type LeftBehind = (folder: string, directory: string) => Promise<void>;

export function createLeftBehind({ store, rows, logger }: LeftBehindWorld): LeftBehind {
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
  return async (folder, directory) => {
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
