import { access, constants, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigPaths } from '../config/paths.ts';
import { errnoOf } from '../errno.ts';
import { unlessHung } from '../unless-hung.ts';
import type { FolderOwner } from '../watch/root-mark.ts';
import { folderOwner, whyForeign, whyInside } from '../watch/root-owner.ts';

export interface FolderFinding {
  /** The folder's key in the configuration. */
  readonly key: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** Finds folders that another dropcast owns or that cannot be marked as ours. Marks nothing. */
export async function inspectFolders({
  stateDir,
  folders,
}: Pick<ConfigPaths, 'stateDir' | 'folders'>): Promise<readonly FolderFinding[]> {
  const ledger = await ledgerIn(stateDir);
  if (ledger === null) return [];
  const us = await folderOwner(stateDir, ledger);
  const found = await Promise.all(folders.map((folder) => unlessHung(inspect(folder, us).catch(() => null))));
  return found.flatMap((finding) => finding ?? []);
}

/**
 * Returns our ledger's id; empty without a ledger, so that every mark counts as another dropcast's; null if it cannot
 * be read.
 */
async function ledgerIn(stateDir: string): Promise<string | null> {
  try {
    return (await readFile(join(stateDir, 'ledger.id'), 'utf8')).trim();
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? '' : null;
  }
}

async function inspect({ key, path }: ConfigPaths['folders'][number], us: FolderOwner): Promise<FolderFinding | null> {
  const why = (await whyForeign(path, us)) ?? (await whyInside(path, us));
  if (why !== null) return { key: `${key}.path`, message: `${path} is not watched: ${why}`, severity: 'error' };
  const canMark = await access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (canMark) return null;
  const message = `${path} is read-only, so dropcast cannot mark it as its own: another user or machine that runs dropcast could upload the same files`;
  return { key: `${key}.path`, message, severity: 'warning' };
}
