import { join } from 'node:path';
import { opendir, stat } from 'node:fs/promises';
import { linkOfOthers, whyRefusedLink } from '../config/links.ts';
import { looksTheSame } from '../pipeline/file/file-version.ts';
import type { ContentVersion } from '../pipeline/file/file-version.ts';
import { errnoOf, lookAt } from './path-entry.ts';

/** Path → version. */
export interface KnownVersions {
  readonly size: number;
  entries(): IteratorObject<readonly [path: string, version: ContentVersion]>;
}

export type RootVerdict = { readonly isSound: true } | { readonly isSound: false; readonly why: string };

/**
 * Tells the folder from what is left of it when its file system is not mounted: an empty directory on another device. Trusting that
 * directory would report every file gone, and upload all of them again when they come back.
 *
 * A device is trusted when it is the same as before, when no file was ever seen on another one, or when one of the known files is on
 * it: a reboot or remount may renumber it.
 */
export class RootCheck {
  readonly #path: string;
  #device: string | null = null;
  #isDoubtful = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Number of the device that is trusted. */
  get device(): string | null {
    return this.#device;
  }

  /** True while the device is only assumed, at start: files known from another one are not reported gone. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /**
   * At start the only devices known are those of the known files. If the folder is on none of them and has none of the files, new files
   * are still accepted, because somebody may simply have cleared the old ones away.
   *
   * @param devices of the known files
   * @param known path → version
   */
  async begin(devices: ReadonlySet<string>, known: KnownVersions): Promise<RootVerdict> {
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

  /** @param known path → version of the files seen before */
  async again(known: KnownVersions): Promise<RootVerdict> {
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

  async #hasOneOf(known: KnownVersions): Promise<boolean> {
    for (const [path, version] of known.entries().take(MOST_FILES_ASKED)) {
      const entry = await lookAt(join(this.#path, path));
      if (entry.is === 'file' && looksTheSame(entry.version, version)) return true;
    }
    return false;
  }
}

const MOST_FILES_ASKED = 10_000;
const ANOTHER_DEVICE =
  'another file system is at its path, with none of the known files on it; probably the folder is not mounted (if this is intended, restart dropcast)';

async function deviceOf(path: string): Promise<{ readonly device: string } | { readonly why: string }> {
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isDirectory()) return { why: 'it is not a directory' };
    const link = await linkOfOthers(path);
    if (link !== null) return { why: whyRefusedLink(link) };
    const refusal = await refusalToRead(path);
    return refusal === null ? { device: String(stats.dev) } : { why: whyRefused('it cannot be read', refusal) };
  } catch (error) {
    const code = errnoOf(error);
    return { why: code === 'ENOENT' ? 'it does not exist' : whyRefused('it cannot be reached', code) };
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

/** What the system refused, and what to do about it where that is known. */
export function whyRefused(what: string, code: string): string {
  const sentence = `${what} (${code})`;
  if (code !== 'EACCES' && code !== 'EPERM') return sentence;
  return `${sentence}: the user dropcast runs as needs access, by a group or an access control list; \`sudo dropcast systemd drop-in\` says which`;
}
