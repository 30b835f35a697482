import { join } from 'node:path';
import { opendir, stat } from 'node:fs/promises';
import { contentKey } from '../pipeline/file/file-version.ts';
import { errnoOf, observe } from './observation.ts';
import { refusedBecause } from './refused-because.ts';

export type RootVerdict = { readonly isSound: true } | { readonly isSound: false; readonly why: string };

/**
 * Tells the folder from what is left of it when its file system is not mounted: an empty directory on another device. Believing
 * that would report every file gone, and upload all of them again when they come back.
 *
 * A device is believed when it is the one of before, when nothing was ever seen on another one, or when one of the files seen
 * before is on it: a reboot or remount may number it anew.
 */
export class RootGuard {
  readonly #path: string;
  #device: string | null = null;
  /** True while the device is only taken for granted, at start: files known from another one are not reported gone. */
  #isDoubtful = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Number of the device that is believed to be the folder's. */
  get device(): string | null {
    return this.#device;
  }

  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /**
   * At start there is no device of before but those of the known files. If it is none of them and has none of the files, new
   * files are still taken, because the old ones may simply have been cleared away.
   */
  async begin(devices: ReadonlySet<string>, known: ReadonlyMap<string, string>): Promise<RootVerdict> {
    const found = await deviceOf(this.#path);
    if ('why' in found) {
      // Whichever of the known devices comes later is the right one; with several the files decide.
      this.#device = devices.values().next().value ?? null;
      return { isSound: false, why: found.why };
    }
    this.#device = found.device;
    this.#isDoubtful = devices.size > 0 && !devices.has(found.device) && !(await this.#hasOneOf(known));
    return { isSound: true };
  }

  /** @param known path → content key of the files seen before */
  async check(known: ReadonlyMap<string, string>): Promise<RootVerdict> {
    const found = await deviceOf(this.#path);
    if ('why' in found) return { isSound: false, why: found.why };
    if (found.device === this.#device) return { isSound: true };
    if (this.#device === null || known.size === 0 || (await this.#hasOneOf(known))) {
      this.#device = found.device;
      this.#isDoubtful = false;
      return { isSound: true };
    }
    return { isSound: false, why: ANOTHER_DEVICE };
  }

  async #hasOneOf(known: ReadonlyMap<string, string>): Promise<boolean> {
    for (const [path, key] of known.entries().take(MOST_FILES_ASKED)) {
      const observation = await observe(join(this.#path, path));
      if (observation.is === 'file' && contentKey(observation.version) === key) return true;
    }
    return false;
  }
}

const MOST_FILES_ASKED = 10_000;
const ANOTHER_DEVICE =
  'another file system is at its path and none of the known files is on it: probably it is not mounted (restart dropcast if the change is meant)';

async function deviceOf(path: string): Promise<{ readonly device: string } | { readonly why: string }> {
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isDirectory()) return { why: 'it is not a directory' };
    const refusal = await refusalToRead(path);
    return refusal === null ? { device: String(stats.dev) } : { why: refusedBecause('it cannot be read', refusal) };
  } catch (error) {
    const code = errnoOf(error);
    return { why: code === 'ENOENT' ? 'it does not exist' : refusedBecause('it cannot be reached', code) };
  }
}

/**
 * The code of the refusal, or null: all other errors show in the scan. Opening `.` needs the right to list the directory and
 * the one to search it. Not `access(2)`: it leaves out the capabilities of a service that is not root.
 */
async function refusalToRead(path: string): Promise<'EACCES' | 'EPERM' | null> {
  try {
    await (await opendir(`${path}/.`)).close();
    return null;
  } catch (error) {
    const code = errnoOf(error);
    return code === 'EACCES' || code === 'EPERM' ? code : null;
  }
}
