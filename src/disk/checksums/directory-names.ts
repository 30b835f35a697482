import { readdir } from 'node:fs/promises';
import { checksumFileKind } from '../../routing/checksum-file.ts';

/**
 * The names of checksum files in directories. A directory may have 100,000 files, and each of them asks when it is sent: so a list is used
 * again for twenty times as long as it took, but no longer than two seconds, which is less than files take to settle.
 */
export class ChecksumNames {
  readonly #lists = new Map<string, { readonly until: number; readonly names: Promise<readonly string[]> }>();

  /** @param directory absolute; for one that cannot be read, none */
  of(directory: string): Promise<readonly string[]> {
    const known = this.#lists.get(directory);
    if (known !== undefined && performance.now() < known.until) return known.names;
    return this.#list(directory);
  }

  #list(directory: string): Promise<readonly string[]> {
    const startedAt = performance.now();
    const names = list(directory).then((found) => {
      const tookMs = performance.now() - startedAt;
      this.#keep(directory, { until: performance.now() + Math.min(20 * tookMs, LONGEST_MS), names });
      return found;
    });
    this.#keep(directory, { until: Number.POSITIVE_INFINITY, names });
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

async function list(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => checksumFileKind(name) !== null || name === HISTORY);
}

/** Where ASC MHL 2 keeps its lists. */
export const HISTORY = 'ascmhl';
