import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import { SLOW_RECHECK_MS } from './completeness.ts';
import type { Inventory } from './inventory.ts';
import { lookAt } from './path-entry.ts';
import type { PathEntry } from './path-entry.ts';
import { ofMissingFiles, Rejections } from './rejections.ts';
import type { Settler } from './settler.ts';

export interface MissingFilesOptions {
  /** Absolute path of the watched folder. */
  readonly folder: string;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  /** Once it fires, nothing is suspected any more. */
  readonly signal: AbortSignal;
  readonly inventory: Inventory;
  readonly settler: Pick<Settler, 'forget' | 'hint'>;
  /** Whether these files count as gone; asked after they were looked for. Without a scan nobody knows what became of many. */
  readonly believes: (missing: readonly string[], isScan: boolean) => Promise<boolean>;
  readonly scanSoon: () => void;
  readonly gone: (path: string) => Promise<void>;
}

/**
 * Reports files gone, once that is certain: nothing is at the path, or something that is no file, and the folder is sound *after* that answer, so that an unmount in
 * between cannot pass for a deletion. The old path of a rename waits until the file was offered under its new path. Owns one timer,
 * which ends with it.
 */
export class MissingFiles implements AsyncDisposable {
  readonly #options: MissingFilesOptions;
  readonly #suspects = new Set<string>();
  readonly #limit = pLimit(AT_ONCE);
  readonly #rejections: Rejections;
  #cancelTimer: (() => void) | null = null;
  #report: Promise<void> = Promise.resolve();

  constructor(options: MissingFilesOptions) {
    this.#options = options;
    this.#rejections = new Rejections(options.folder, options.logger, ofMissingFiles);
  }

  /** One look did not find the path. It is checked a moment later, with all others of that moment. */
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
   * @param paths that were not found where they had been; those the sink never had are only forgotten
   * @param isScan whether they are all that a full scan did not find
   */
  async report(paths: Iterable<string>, isScan: boolean): Promise<void> {
    const { folder, inventory, believes, scanSoon } = this.#options;
    const missing: string[] = [];
    await this.#limit.map(paths, async (path) => {
      if (isNoFile(await lookAt(join(folder, path)))) missing.push(path);
    });
    if (missing.length === 0 && !isScan) return;
    const renamed = inventory.renamed(missing);
    const isReportable = (path: string): boolean => {
      const waiting = inventory.waiting.get(path);
      // Being offered, or on its way to a new path: the next scan asks again.
      return waiting === undefined ? !renamed.has(path) : !waiting.busy;
    };
    const gone = missing.filter(isReportable);
    if (await believes(gone, isScan)) await this.#limit.map(gone, (path) => this.#tell(path));
    else if (!isScan) scanSoon();
  }

  /** Waits for the report under way; the signal has to be aborted before. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelTimer?.();
    await this.#report;
  }

  async #tell(path: string): Promise<void> {
    const { inventory, settler, gone } = this.#options;
    inventory.leaves(path);
    const version = inventory.taken.get(path);
    const state = inventory.taken.state(path);
    settler.forget(path);
    if (version === undefined) return;
    try {
      await gone(path);
      this.#rejections.taken();
      // It may have come back meanwhile.
      settler.hint(path);
    } catch (error) {
      this.#rejections.rejected(path, SLOW_RECHECK_MS, error);
      inventory.taken.set(path, version);
      inventory.taken.setState(path, state);
      // Not at once: the sink may be busy with the file for hours.
      settler.hint(path, SLOW_RECHECK_MS);
    }
  }
}

function isNoFile({ is }: PathEntry): boolean {
  return is === 'missing' || is === 'directory' || is === 'special';
}

/** Each takes a thread of the pool for good when the share hangs. */
const AT_ONCE = 8;
/** Time for the events of the other half of a rename. */
const GRACE_MS = 1000;
