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
  /** Once it fires, no file is suspected. */
  readonly signal: AbortSignal;
  readonly inventory: Inventory;
  readonly settler: Pick<Settler, 'forget' | 'hint'>;
  /** Whether these files count as gone. Called after the look. Many missing files need a scan first. */
  readonly believes: (missing: readonly string[], isScan: boolean) => Promise<boolean>;
  readonly scanSoon: () => void;
}

/**
 * Reports files gone once that is certain: no file is at the path, and the folder is sound *after* that look, so an
 * unmount in between cannot pass for a deletion. The old path of a rename waits until the file was offered under its
 * new path. Owns one timer.
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

  /** One look did not find the path. All suspects of a moment are checked together, a moment later. */
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
   * @param paths that were not found; those that the sink never had are only forgotten
   * @param isScan whether these are all paths that a full scan did not find
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
      // The file is being offered, or was renamed: the next scan checks again.
      return waiting === undefined ? !renamed.has(path) : !waiting.busy;
    };
    const gone = missing.filter(isReportable);
    if (await believes(gone, isScan)) await this.#limit.map(gone, (path) => this.#tell(path));
    else if (!isScan) scanSoon();
  }

  /** Waits for the report under way. The signal must be aborted before. */
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
      // The file may have come back in the meantime.
      settler.hint(path);
    } catch (error) {
      this.#rejections.rejected(path, SLOW_RECHECK_MS, error);
      inventory.taken.set(path, version);
      inventory.taken.setState(path, state);
      // Later: the sink may be busy with the file for hours.
      settler.hint(path, SLOW_RECHECK_MS);
    }
  }
}

function isNoFile({ is }: PathEntry): boolean {
  return is === 'missing' || is === 'directory' || is === 'special';
}

/** Time for the event of the other half of a rename. */
const GRACE_MS = 1000;
