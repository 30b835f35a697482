import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import { SLOW_RECHECK_MS } from './completeness.ts';
import type { Inventory } from './inventory.ts';
import { LOOKS_AT_ONCE, lookAt } from './path-entry.ts';
import type { PathEntry } from './path-entry.ts';
import type { WatchSettings, WatchSink } from './ports.ts';
import { ofMissingFiles, Rejections } from './rejections.ts';
import type { Settler } from './settler.ts';

export interface MissingFilesOptions {
  readonly folder: Pick<WatchSettings, 'path'>;
  readonly sink: Pick<WatchSink, 'gone'>;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  /** Once aborted, no more files are suspected. */
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
