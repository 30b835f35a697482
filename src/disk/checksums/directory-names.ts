import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checksumFileKind } from '../../routing/checksum-file.ts';
import { isMissing } from './read-list.ts';
import { UnreadableChecksumError } from './unreadable-checksum.ts';

/**
 * The names of checksum files in directories. A directory may have 100,000 files, and each of them asks when it is sent: so a list is used
 * again for twenty times as long as it took, but no longer than two seconds, which is less than files take to settle.
 */
export class ChecksumNames {
  readonly #lists = new Map<string, { readonly until: number; readonly names: Promise<readonly string[]> }>();

  /**
   * @param directory relative to the folder; one that is not there has none
   * @throws {UnreadableChecksumError} it cannot be listed
   */
  of(folder: string, directory: string): Promise<readonly string[]> {
    const key = join(folder, directory);
    const known = this.#lists.get(key);
    if (known !== undefined && performance.now() < known.until) return known.names;
    return this.#list(key, directory);
  }

  #list(key: string, directory: string): Promise<readonly string[]> {
    const startedAt = performance.now();
    const names = list(key, directory).finally(() => {
      const tookMs = performance.now() - startedAt;
      this.#keep(key, { until: performance.now() + Math.min(20 * tookMs, LONGEST_MS), names });
    });
    this.#keep(key, { until: Number.POSITIVE_INFINITY, names });
    return names;
  }

  #keep(directory: string, entry: { readonly until: number; readonly names: Promise<readonly string[]> }): void {
    this.#lists.delete(directory);
    this.#lists.set(directory, entry);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MOST_DIRECTORIES && oldest !== undefined) this.#lists.delete(oldest);
  }
}

const LONGEST_MS = 2000;
const MOST_DIRECTORIES = 256;

async function list(path: string, directory: string): Promise<readonly string[]> {
  const names = await readdir(path).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw new UnreadableChecksumError(directory, error);
  });
  return names.filter((name) => checksumFileKind(name) !== null || name === HISTORY);
}

/** Where ASC MHL 2 keeps its lists. */
export const HISTORY = 'ascmhl';
