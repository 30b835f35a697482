import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AfterReady, FolderConfig } from '../config/config.ts';
import { isThere } from '../disk/local-files.ts';
import { accountName } from '../passwd.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Route } from '../routing/plan.ts';
import type { CompleteFile } from '../watch/ports.ts';
import type { Leaving } from '../pipeline/file/reasons.ts';
import type { FolderRouter } from './folder-router.ts';

/** A complete file with everything that decides its intake. */
export interface Arrival {
  readonly folder: string;
  readonly path: string;
  readonly version: FileVersion;
  /** Why a settled file must not be sent; null for a sound file. */
  readonly flaw: string | null;
  readonly isUnreadable?: boolean;
  readonly sourceUrl: string | null;
  readonly route: Route;
  readonly onDuplicate: 'skip' | 'upload';
  readonly onChange: 'upload' | 'ignore';
  readonly afterReady: AfterReady;
  /** The file's Unix owner; null if no target is chosen by owner. */
  readonly owner: string | null;
  /** How to treat a file that existed before dropcast watched the folder; null for a new file. */
  readonly leaving: Leaving | null;
  /** True if a person asked for the upload, regardless of `existing`. */
  readonly isWanted: boolean;
}

/** Decides how to treat a file that existed before dropcast watched the folder; see `FirstStart`. */
interface FirstDecision {
  leaving(path: string, version: FileVersion): Promise<Leaving | null>;
}

/** Reads the sidecar of a complete file and applies the rules. Returns null if the file is gone. */
export async function arrivalOf(
  router: FolderRouter,
  file: CompleteFile,
  { first, isWanted }: { readonly first: FirstDecision; readonly isWanted: boolean },
): Promise<Arrival | null> {
  const { onDuplicate, onChange, afterReady } = router.folder;
  const { folder, path, version, isUnreadable = false } = file;
  const link = file.kind === 'link' ? await router.sourceUrl(path) : null;
  const route = await routeOf(router, file);
  if (route === null) return null;
  const flaw = file.flaw ?? (link?.ok === false ? link.why : null);
  const sourceUrl = link?.ok === true ? link.url : null;
  const owner = isByOwner(router.folder) ? await ownerOf(folder, path) : null;
  const leaving = isWanted ? null : await first.leaving(path, version);
  return {
    folder,
    path,
    version,
    flaw,
    isUnreadable,
    sourceUrl,
    route,
    onDuplicate,
    onChange,
    afterReady,
    owner,
    leaving,
    isWanted,
  };
}

function isByOwner({ notify, rules }: FolderConfig): boolean {
  return [{ notify }, ...rules].some((each) => Object.keys(each.notify?.owners ?? {}).length > 0);
}

/**
 * Returns the Unix owner of a file: the name in passwd(5), or the number if it has none, as for users of a directory
 * service. Null if the file is gone.
 */
async function ownerOf(folder: string, path: string): Promise<string | null> {
  const stats = await lstat(join(folder, path)).catch(() => null);
  if (stats === null) return null;
  return accountName(stats.uid, await readFile('/etc/passwd', 'utf8').catch(() => ''));
}

/** Returns a file's route. Null if the file is gone, because a missing sidecar proves nothing then. */
export async function routeOf(
  router: FolderRouter,
  file: { readonly path: string; readonly version: FileVersion },
): Promise<Route | null> {
  const route = await router.route(file.path, file.version);
  return (await isThere(router.folder.path, file.path)) ? route : null;
}
