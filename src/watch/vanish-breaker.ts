import { join } from 'node:path';
import pLimit from 'p-limit';
import type { MonotonicClock } from './clock.ts';
import { sidecarState } from './inventory.ts';
import type { Inventory } from './inventory.ts';
import { LOOKS_AT_ONCE, lookAt } from './path-entry.ts';
import type { RootStore, WatchSettings } from './ports.ts';
import type { Root } from './root.ts';

export interface VanishBreakerOptions {
  readonly folder: Pick<WatchSettings, 'path'>;
  readonly clock: MonotonicClock;
  readonly inventory: Pick<Inventory, 'taken'>;
  readonly root: Pick<Root, 'doubt' | 'suspect' | 'believe'>;
  readonly roots: Pick<RootStore, 'expected'>;
}

/**
 * Freezes a folder when most of its files are gone at once. A share that lost its disk, or a wrong directory, would
 * look the same. The folder stays frozen until rows or the disk account for enough of the files, or an operator
 * confirms that they are gone.
 *
 * No running total is kept: each decision asks the ledger again about every path that is missing now or was given up
 * within the last minute. A file that was only missing for a moment, because it was moved or renamed, stops counting as
 * soon as its row shows that.
 */
export class VanishBreaker {
  readonly #options: VanishBreakerOptions;
  #hasScanned = false;
  /** Path that was recently given up → time, by the monotonic clock. */
  readonly #givenUp = new Map<string, number>();

  constructor(options: VanishBreakerOptions) {
    this.#options = options;
  }

  /**
   * Whether these files count as gone.
   *
   * @param missing paths whose file is gone and was not renamed
   * @param isScan whether the paths come from a full scan. A few missing files prove nothing about the others, so only
   *   a scan freezes the folder
   */
  async believes(missing: readonly string[], isScan: boolean): Promise<boolean> {
    const { root } = this.#options;
    const { doubt } = root;
    if (doubt !== null && !isScan) return false;
    const isFirst = doubt === null && !this.#hasScanned;
    const lost = doubt?.is === 'resumed' ? 0 : await this.#countLost(missing, isFirst ? 'unfinished' : 'all');
    const found =
      lost === 0 ? null : await this.#compare(missing, doubt?.is === 'missing' ? doubt.before : this.#lately());
    if (isScan) this.#hasScanned = true;
    if (found !== null && isMost(found.gone + lost, found.gone + lost + found.there)) {
      if (isScan && doubt === null) await root.suspect({ ...found, lost: found.gone + lost });
      return false;
    }
    if (doubt !== null) {
      this.#givenUp.clear();
      await root.believe();
    } else if (lost > 0) for (const path of missing) this.#givenUp.set(path, this.#options.clock.elapsed());
    return true;
  }

  /**
   * Whether most files seem to be missing, judging by a sample. For callers that cannot wait for a scan, but must not
   * give up one file after another.
   */
  async areMostMissing(): Promise<boolean> {
    const { folder, inventory } = this.#options;
    const step = Math.ceil(inventory.taken.size / MOST_SAMPLED);
    const sample = inventory.taken
      .paths()
      .filter((_, index) => index % step === 0)
      .toArray();
    const found = await pLimit(LOOKS_AT_ONCE).map(sample, (path) => lookAt(join(folder.path, path)));
    const missing = sample.filter((_, index) => found[index]?.is === 'missing');
    const lost = await this.#countLost(missing, 'all');
    return isMost(lost, lost + sample.length - missing.length);
  }

  /**
   * Compares missing files with those that are still there.
   *
   * @param before paths that were given up before
   * @returns the paths in `before` that are still gone, how many files should be at them, and how many known files are
   *   there
   */
  async #compare(
    missing: readonly string[],
    before: readonly string[],
  ): Promise<{ readonly before: readonly string[]; readonly gone: number; readonly there: number }> {
    const { taken } = this.#options.inventory;
    const absent = new Set(missing);
    // Files that have come back are known again.
    const stillGone = before.filter((path) => !absent.has(path) && !taken.has(path));
    let there = 0;
    // Sidecars and checksums prove nothing, because they may outlive their video.
    for (const path of taken.paths()) if (!absent.has(path) && taken.state(path) !== sidecarState) there += 1;
    return { before: stillGone, gone: await this.#countLost(stillGone, 'also given up'), there };
  }

  /** Counts the paths that should have a file according to the ledger. */
  async #countLost(paths: readonly string[], which: 'all' | 'unfinished' | 'also given up'): Promise<number> {
    const { folder, roots } = this.#options;
    return paths.length === 0 ? 0 : roots.expected(folder.path, paths, which);
  }

  #lately(): readonly string[] {
    const since = this.#options.clock.elapsed() - RECENT_MS;
    for (const [path, atMs] of this.#givenUp) if (atMs < since) this.#givenUp.delete(path);
    return [...this.#givenUp.keys()];
  }
}

/** Minimum loss that freezes a folder. People remove fewer files by hand every day. */
const LEAST_FILES = 10;
const MOST_SAMPLED = 40;
/** How long given-up files still count, because a long `rm -r` arrives in several reports. */
const RECENT_MS = 60_000;

function isMost(lost: number, known: number): boolean {
  return lost >= LEAST_FILES && lost * 2 > known;
}
