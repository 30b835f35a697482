import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import { SLOW_RECHECK_MS } from './completeness.ts';
import { sidecarState } from './inventory.ts';
import type { Inventory } from './inventory.ts';
import { LOOKS_AT_ONCE, lookAt } from './path-entry.ts';
import type { PathEntry } from './path-entry.ts';
import type { WatchSettings, WatchSink, RootStore } from './ports.ts';
import { ofMissingFiles, Rejections } from './refused-paths.ts';
import type { Settler } from './settler.ts';
import type { Root } from './root.ts';

interface MissingFilesOptions {
  readonly folder: Pick<WatchSettings, 'path'>;
  readonly sink: Pick<WatchSink, 'gone'>;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly inventory: Inventory;
  readonly settler: Pick<Settler, 'forget' | 'hint'>;
  /**
   * Whether these files count as gone. Called after the disk check. Large numbers of missing files need a scan first.
   */
  readonly believes: (missing: readonly string[], isScan: boolean) => Promise<boolean>;
  readonly scanSoon: () => void;
}

/**
 * Reports files as gone once that is certain: the path has no file, and the folder is sound *after* that check, so an
 * unmount in between cannot pass for a deletion. After a rename, the old path is reported only once the file was
 * offered under its new path. Owns one timer.
 */
export class MissingFiles implements AsyncDisposable {
  readonly #options: MissingFilesOptions;
  readonly #suspects = new Set<string>();
  readonly #limit = pLimit(LOOKS_AT_ONCE);
  readonly #rejections: Rejections;
  #cancelTimer: (() => void) | null = null;
  #report: Promise<void> = Promise.resolve();

  constructor(options: MissingFilesOptions) {
    this.#options = options;
    this.#rejections = new Rejections(options.folder.path, options.logger, ofMissingFiles);
  }

  /** Schedules a check of a path that was not found. Suspects are checked together a moment later. */
  suspect(path: string): void {
    if (this.#options.signal.aborted || !this.#options.inventory.taken.has(path)) return;
    this.#suspects.add(path);
    this.#cancelTimer ??= this.#options.clock.after(GRACE_MS, () => {
      this.#cancelTimer = null;
      const paths = [...this.#suspects];
      this.#suspects.clear();
      this.#report = this.#report.then(() => this.report(paths, false));
    });
  }

  /**
   * Checks the paths on disk and reports those that are gone.
   *
   * @param paths that were not found; any that the sink never accepted are simply forgotten
   * @param isScan whether these are all the paths that a full scan did not find
   */
  async report(paths: Iterable<string>, isScan: boolean): Promise<void> {
    const { folder, inventory, believes, scanSoon } = this.#options;
    const missing: string[] = [];
    await this.#limit.map(paths, async (path) => {
      if (isNoFile(await lookAt(join(folder.path, path)))) missing.push(path);
    });
    if (missing.length === 0 && !isScan) return;
    const renamed = inventory.renamed(missing);
    const isReportable = (path: string): boolean => {
      const waiting = inventory.waiting.get(path);
      // A file that is being offered or was renamed is left to the next scan.
      return waiting === undefined ? !renamed.has(path) : !waiting.busy;
    };
    const gone = missing.filter(isReportable);
    if (await believes(gone, isScan)) await this.#limit.map(gone, (path) => this.#tell(path));
    else if (!isScan) scanSoon();
  }

  /** Waits for the report in progress. Abort the signal first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelTimer?.();
    await this.#report;
  }

  async #tell(path: string): Promise<void> {
    const { sink, inventory, settler } = this.#options;
    inventory.leaves(path);
    const version = inventory.taken.get(path);
    const state = inventory.taken.state(path);
    settler.forget(path);
    if (version === undefined) return;
    try {
      await sink.gone(path);
      this.#rejections.taken();
      // The file may have reappeared in the meantime.
      settler.hint(path);
    } catch (error) {
      this.#rejections.rejected(path, SLOW_RECHECK_MS, error);
      inventory.taken.set(path, version);
      inventory.taken.setState(path, state);
      // Retried later, because the sink may be busy with the file for hours.
      settler.hint(path, SLOW_RECHECK_MS);
    }
  }
}

function isNoFile({ is }: PathEntry): boolean {
  return is === 'missing' || is === 'directory' || is === 'special';
}

/** Delay that lets the event for the other half of a rename arrive. */
const GRACE_MS = 1000;

interface VanishBreakerOptions {
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
