import type { Stats } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { variable, type Environment } from './environment.ts';
import { errnoOf } from '../errno.ts';
import { userName } from './file-access.ts';
import { installedService } from './installed-service.ts';

/** The location of a configuration file, and how it was found. */
export interface ConfigPlace {
  /** Path relative to the current directory, or absolute. */
  readonly file: string;
  /**
   * Whether the file was found in the current directory, without `--config` or a variable. Another user may have put it
   * there.
   */
  readonly isImplicit: boolean;
}

/** Thrown when there is no configuration file in any of the possible places. */
export class ConfigNotFoundError extends Error {
  override readonly name = 'ConfigNotFoundError';
  readonly places: readonly string[];

  constructor(places: readonly string[]) {
    super(`no configuration file found; looked for ${places.join(', ')}`);
    this.places = places;
  }
}

/**
 * Finds the configuration file: `--config`, then `$DROPCAST_CONFIG`, `./dropcast.yaml` and
 * `/etc/dropcast/dropcast.yaml`. A file named explicitly must exist; the others are tried in turn.
 *
 * @param option the value of `--config`
 * @throws ConfigNotFoundError naming every place that was searched
 */
export async function findConfig(option: string | undefined, environment: Environment): Promise<ConfigPlace> {
  const named = option ?? variable(environment, 'DROPCAST_CONFIG');
  if (named !== undefined) {
    const file = resolve(environment.cwd, named);
    if (await exists(file)) return { file, isImplicit: false };
    throw new ConfigNotFoundError([`${file} (from ${option === undefined ? '$DROPCAST_CONFIG' : '--config'})`]);
  }
  const here = resolve(environment.cwd, 'dropcast.yaml');
  const { configFile: installed } = installedService(null);
  if ((await exists(here)) && !(await isOutOfSight(here))) return { file: here, isImplicit: here !== installed };
  if (await exists(installed)) return { file: installed, isImplicit: false };
  throw new ConfigNotFoundError([here, installed]);
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (cause) {
    // Other errors, such as an inaccessible directory, are reported when the file is read.
    return !['ENOENT', 'ENOTDIR'].includes(errnoOf(cause));
  }
}

/** Whether a file may exist in a directory that cannot be accessed. */
async function isOutOfSight(file: string): Promise<boolean> {
  return lstat(file).then(
    () => false,
    (cause: unknown) => errnoOf(cause) === 'EACCES',
  );
}

/**
 * Why a configuration from the current directory must not be used. Its author decides which secrets dropcast reads and
 * where it sends them, and after `sudo` in another user's folder that user is the author (git's `safe.directory`,
 * CVE-2022-24765).
 *
 * @param stat of the open file
 * @returns null if the file and any link to it belong to root or to the user running dropcast
 */
export async function refuseForeignOwner(path: string, stat: Pick<Stats, 'uid'>): Promise<string | null> {
  const user = process.geteuid?.();
  // Windows has no user IDs.
  if (user === undefined) return null;
  const link = await lstat(path);
  const other = [stat.uid, link.uid].find((uid) => uid !== 0 && uid !== user);
  if (other === undefined) return null;
  return `found in the current directory, it belongs to ${await userName(other)}, who could send the key to any server; to use it anyway, name it with --config`;
}
