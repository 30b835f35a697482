import { join } from 'node:path';
import pLimit from 'p-limit';
import type { MonotonicClock } from './clock.ts';
import { sidecarState } from './inventory.ts';
import type { Inventory } from './inventory.ts';
import { lookAt } from './path-entry.ts';
import type { RootDoubt, RootStore, WatchSettings } from './ports.ts';
import type { Root } from './root.ts';

export interface VanishBreakerOptions {
  readonly folder: Pick<WatchSettings, 'path'>;
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
  #recent: { readonly atMs: number; readonly paths: ReadonlySet<string>; readonly files: number }[] = [];

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
    // A step may be busy with a file that is gone: it is reported again and again.
    const news = missing.filter((path) => !this.#recent.some(({ paths }) => paths.has(path)));
    const lost = await this.#lostOf(news, this.#hasScanned ? 'all' : 'unfinished');
    const before = this.#recentlyLost();
    const there = this.#countThere(missing);
    const isDoubtful = lost > 0 && isMost(before + lost, before + lost + there);
    if (isScan) this.#hasScanned = true;
    if (isDoubtful && isScan) await root.suspect({ before, lost, there });
    else if (!isDoubtful) this.#note(news, lost);
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
    const found = await pLimit(LOOKS_AT_ONCE).map(sample, (path) => lookAt(join(folder.path, path)));
    return isMost(found.filter(({ is }) => is === 'missing').length, sample.length);
  }

  /**
   * A person said that they are gone, or enough of them are no longer missed: they are back, in another watched folder, or dropcast
   * itself put them away.
   */
  async #reconsider(doubt: RootDoubt, missing: readonly string[]): Promise<boolean> {
    if (doubt.is === 'missing') {
      const lost = doubt.before + (await this.#lostOf(missing, 'all'));
      if (isMost(lost, lost + this.#countThere(missing))) return false;
    }
    this.#hasScanned = true;
    this.#recent = [];
    await this.#options.root.believe();
    return true;
  }

  /**
   * How many of them should be there. Not those that dropcast itself has put away, nor, as `unfinished`, those that were done and may
   * have been taken away while it was stopped.
   */
  async #lostOf(missing: readonly string[], which: 'all' | 'unfinished'): Promise<number> {
    const { folder, roots } = this.#options;
    return missing.length === 0 ? 0 : roots.expected(folder.path, missing, which);
  }

  /** Files that are known and not missing. What lies beside a video may stay without it. */
  #countThere(missing: readonly string[]): number {
    const { taken } = this.#options.inventory;
    const absent = new Set(missing);
    let count = 0;
    for (const path of taken.paths()) if (!absent.has(path) && taken.state(path) !== sidecarState) count += 1;
    return count;
  }

  #recentlyLost(): number {
    const since = this.#options.clock.elapsed() - RECENT_MS;
    this.#recent = this.#recent.filter(({ atMs }) => atMs >= since);
    return this.#recent.reduce((sum, { files }) => sum + files, 0);
  }

  #note(paths: readonly string[], files: number): void {
    if (files > 0) this.#recent.push({ atMs: this.#options.clock.elapsed(), paths: new Set(paths), files });
  }
}

/** Fewer are removed by hand every day. */
const LEAST_FILES = 10;
const MOST_SAMPLED = 40;
/** Each takes a thread of the pool for good when the share hangs. */
const LOOKS_AT_ONCE = 8;
/** A long `rm -r` comes in several reports. */
const RECENT_MS = 60_000;

function isMost(lost: number, known: number): boolean {
  return lost >= LEAST_FILES && lost * 2 > known;
}
