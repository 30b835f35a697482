import { join } from 'node:path';
import type { MonotonicClock } from './clock.ts';
import type { Inventory } from './inventory.ts';
import { lookAt } from './path-entry.ts';
import type { RootDoubt, RootStore, WatchSettings } from './ports.ts';
import type { Root } from './root.ts';

export interface VanishBreakerOptions {
  readonly folder: Pick<WatchSettings, 'path' | 'accepts'>;
  readonly clock: MonotonicClock;
  readonly inventory: Pick<Inventory, 'taken'>;
  readonly root: Pick<Root, 'doubt' | 'suspect' | 'believe'>;
  readonly roots: Pick<RootStore, 'expected'>;
}

/**
 * Does not believe that most files of a folder are gone at once: a share that lost its disk, or a wrong directory, looks the same. The
 * folder freezes until the files are back or a person says that they are gone.
 */
export class VanishBreaker {
  readonly #options: VanishBreakerOptions;
  #hasScanned = false;
  /** Lately believed. */
  #recent: { readonly atMs: number; readonly files: number }[] = [];

  constructor(options: VanishBreakerOptions) {
    this.#options = options;
  }

  /**
   * Whether these files count as gone.
   *
   * @param missing what is not at its path, and did not get another one
   * @param isScan after a full scan; without one nobody knows what became of many files, so a scan has to come first
   */
  async believes(missing: readonly string[], isScan: boolean): Promise<boolean> {
    const { root } = this.#options;
    if (root.doubt !== null) return isScan && (await this.#reconsider(root.doubt, missing));
    const lost = await this.#lostOf(missing);
    const isDoubtful = lost > 0 && this.#isDoubtful(lost, missing);
    if (isScan) this.#hasScanned = true;
    if (isDoubtful && isScan) await root.suspect(lost, lost + this.#countThere(missing));
    else if (!isDoubtful) this.#note(lost);
    return !isDoubtful;
  }

  /**
   * Whether most files seem to be missing, by a look at some of them: who misses one file, and cannot wait for a scan, must not give up
   * one after the other.
   */
  async areMostMissing(): Promise<boolean> {
    const { folder, inventory } = this.#options;
    const step = Math.ceil(inventory.taken.size / MOST_SAMPLED);
    const sample = inventory.taken
      .paths()
      .filter((_, index) => index % step === 0)
      .toArray();
    const found = await Promise.all(sample.map((path) => lookAt(join(folder.path, path))));
    return isMost(found.filter(({ is }) => is === 'missing').length, sample.length);
  }

  /** Enough files are back, or a person said that the others are gone. */
  async #reconsider(doubt: RootDoubt, missing: readonly string[]): Promise<boolean> {
    if (doubt.is === 'missing' && isMost(doubt.known - this.#countThere(missing), doubt.known)) return false;
    this.#hasScanned = true;
    await this.#options.root.believe();
    return true;
  }

  /**
   * How many of them should be there. Not those that dropcast itself has put away, nor those that were done and may have been taken
   * away while it was stopped.
   */
  async #lostOf(missing: readonly string[]): Promise<number> {
    const { folder, roots } = this.#options;
    if (missing.length < LEAST_FILES) return 0;
    return roots.expected(folder.path, missing, this.#hasScanned ? 'all' : 'unfinished');
  }

  #isDoubtful(lost: number, missing: readonly string[]): boolean {
    const all = lost + this.#recentlyLost();
    return isMost(all, all + this.#countThere(missing));
  }

  /** Videos and links that are known and not missing. */
  #countThere(missing: readonly string[]): number {
    const { folder, inventory } = this.#options;
    const absent = new Set(missing);
    let count = 0;
    for (const path of inventory.taken.paths()) if (!absent.has(path) && folder.accepts(path) !== 'sidecar') count += 1;
    return count;
  }

  #recentlyLost(): number {
    const since = this.#options.clock.elapsed() - RECENT_MS;
    this.#recent = this.#recent.filter(({ atMs }) => atMs >= since);
    return this.#recent.reduce((sum, { files }) => sum + files, 0);
  }

  #note(files: number): void {
    if (files > 0) this.#recent.push({ atMs: this.#options.clock.elapsed(), files });
  }
}

/** Fewer are removed by hand every day. */
const LEAST_FILES = 10;
const MOST_SAMPLED = 40;
/** A long `rm -r` comes in several reports. */
const RECENT_MS = 60_000;

function isMost(lost: number, known: number): boolean {
  return lost >= LEAST_FILES && lost * 2 > known;
}
