import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errnoOf } from '../errno.ts';

type Names = Map<string, string[]>;

/**
 * Caches, by key, the names in a directory that belong to other files. A directory may have 100,000 files, each of
 * which needs the list. A list is therefore reused for up to two seconds, which is less than files take to settle.
 */
export class ListedNames {
  readonly #keyOf: (name: string) => string | null;
  readonly #leastMs: number;
  readonly #lists = new Map<string, { readonly until: number; readonly names: Promise<Names> }>();

  /**
   * @param keyOf returns null for a name that is not needed
   * @param leastMs how long a list is reused, 0 to 2,000 ms, plus twenty times the time it took to create
   */
  constructor(keyOf: (name: string) => string | null, leastMs = 0) {
    this.#keyOf = keyOf;
    this.#leastMs = leastMs;
  }

  /**
   * Returns the names with these keys.
   *
   * @param directory relative to the folder; a missing one has no names
   * @throws the system error if the directory cannot be listed
   */
  async of(folder: string, directory: string, keys: readonly string[]): Promise<readonly string[]> {
    const path = join(folder, directory);
    const known = this.#lists.get(path);
    const names = await (known !== undefined && performance.now() < known.until ? known.names : this.#list(path));
    return [...new Set(keys)].flatMap((key) => names.get(key) ?? []);
  }

  /** Adds a name that has just appeared to its directory's list. */
  async add(folder: string, directory: string, name: string): Promise<void> {
    const names = await this.#lists.get(join(folder, directory))?.names.catch(() => undefined);
    const key = this.#keyOf(name);
    if (names === undefined || key === null || names.get(key)?.includes(name) === true) return;
    names.set(key, [...(names.get(key) ?? []), name]);
  }

  #list(path: string): Promise<Names> {
    const startedAt = performance.now();
    const names = this.#read(path).finally(() => {
      const tookMs = performance.now() - startedAt;
      this.#keep(path, { until: performance.now() + Math.min(this.#leastMs + 20 * tookMs, LONGEST_MS), names });
    });
    this.#keep(path, { until: Number.POSITIVE_INFINITY, names });
    return names;
  }

  async #read(path: string): Promise<Names> {
    const all = await readdir(path).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error))) return [];
      throw error;
    });
    const names: Names = new Map();
    for (const [index, name] of all.entries()) {
      if (index % SLICE === SLICE - 1) await nextTurn();
      const key = this.#keyOf(name);
      if (key === null) continue;
      const same = names.get(key);
      if (same === undefined) names.set(key, [name]);
      else same.push(name);
    }
    return names;
  }

  #keep(path: string, entry: { readonly until: number; readonly names: Promise<Names> }): void {
    this.#lists.delete(path);
    this.#lists.set(path, entry);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MOST_DIRECTORIES && oldest !== undefined) this.#lists.delete(oldest);
  }
}

const LONGEST_MS = 2000;
const MOST_DIRECTORIES = 256;
/** Number of names to process between two turns of the event loop. */
const SLICE = 2000;
