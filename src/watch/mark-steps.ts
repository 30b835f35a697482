import { unlessHung } from '../unless-hung.ts';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import { isAhead, readMark, writeCounter } from './root-mark.ts';
import type { FolderClaimant } from './root-mark.ts';
import { judge } from './root-owner.ts';

export interface MarkStepsOptions {
  readonly path: string;
  readonly owner: FolderClaimant;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/**
 * Keeps the counter in the mark of a folder: after files were taken in, it says how far the ledger is. The ledger has the number first, so a
 * crash leaves no mark that is ahead of its ledger. A mark is written once a minute at most, and never while nothing is taken in: that would
 * wake a sleeping disk. Owns one timer, which ends with it (docs/decisions/0095-marks-have-a-counter.md).
 */
export class MarkSteps implements AsyncDisposable {
  readonly #options: MarkStepsOptions;
  #isOwed = false;
  #isClosed = false;
  #lastMs = -Infinity;
  #cancel: (() => void) | null = null;
  #stepping: Promise<void> | null = null;
  #hasWarned = false;

  constructor(options: MarkStepsOptions) {
    this.#options = options;
  }

  /** Something was taken in. */
  took(): void {
    if (this.#options.owner.ledgerCounter == null) return;
    this.#isOwed = true;
    this.#plan();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await unlessHung(this.#finish());
  }

  #plan(): void {
    const { clock } = this.#options;
    if (!this.#isOwed || this.#isClosed || this.#cancel !== null || this.#stepping !== null) return;
    this.#cancel = clock.after(Math.max(0, this.#lastMs + stepMs - clock.elapsed()), () => {
      this.#cancel = null;
      void this.#step();
    });
  }

  async #finish(): Promise<void> {
    await this.#stepping;
    if (this.#isOwed) await this.#step();
  }

  #step(): Promise<void> {
    this.#isOwed = false;
    this.#lastMs = this.#options.clock.elapsed();
    return (this.#stepping = this.#write()
      .catch((err: unknown) => this.#warn(err))
      .finally(() => {
        this.#stepping = null;
        this.#plan();
      }));
  }

  async #write(): Promise<void> {
    const { path, owner } = this.#options;
    const found = await readMark(path);
    // One that is missing, or is another's, is for the next look at the folder.
    if (found.is !== 'mark' || (await judge(path, found, owner)).is !== 'ours') return;
    const counter = await owner.ledgerCounter?.advance();
    // Another host of a fleet may be further by now.
    if (counter !== undefined && !isAhead(found.owner.counter ?? 0, counter))
      await writeCounter(path, found.text, counter);
  }

  /** Once: a folder that became read-only stays so. */
  #warn(err: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.logger.warn(
      'The mark of the folder cannot be written: an old copy of the ledger would go unnoticed',
      {
        folder: this.#options.path,
        err,
      },
    );
  }
}

const stepMs = 60_000;
