import { join } from 'node:path';
import pLimit from 'p-limit';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import { SLOW_RECHECK_MS, createJudge, wait } from './completeness.ts';
import type { Judge } from './completeness.ts';
import { DoneMarkers } from './done-markers.ts';
import { createHandOver } from './hand-over.ts';
import type { HandOver } from './hand-over.ts';
import type { Inventory } from './inventory.ts';
import type { OpenWriters } from './open-writers.ts';
import { lookAt } from './path-entry.ts';
import type { PathEntry } from './path-entry.ts';
import type { CompleteFile, FileKind, SettlingFile, WatchSettings } from './ports.ts';
import { SettlingFiles } from './settling-files.ts';
import type { WaitingFile } from './waiting-file.ts';

export interface SettlerOptions {
  readonly folder: Pick<WatchSettings, 'path' | 'settleMs' | 'accepts' | 'markerOf'>;
  readonly inventory: Inventory;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  /** Once it fires, nothing is looked at or offered any more. */
  readonly signal: AbortSignal;
  readonly writers: OpenWriters;
  /** Whether files of the folder may be offered now; asked right before each offer. */
  readonly isRootSound: () => Promise<boolean>;
  readonly complete: (file: CompleteFile) => Promise<void>;
  /** A look at a path found no file of ours. */
  readonly notAFile: (path: string, entry: PathEntry) => void;
}

/**
 * Waits until files settle. Scans and hints report here what they see; a file is offered once it stayed unchanged for its settle time,
 * nobody is writing to it, and its container does not contradict. Owns one timer and the looks under way, which end with it.
 */
export class Settler implements AsyncDisposable {
  readonly #options: SettlerOptions;
  readonly #files: SettlingFiles;
  readonly #limit = pLimit(LOOKS_AT_ONCE);
  readonly #markers: DoneMarkers;
  readonly #judge: Judge;
  readonly #handOver: HandOver;
  readonly #work = new Set<Promise<void>>();

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#files = new SettlingFiles({
      ...options,
      due: (path) => this.#start(path),
      room: () => MOST_AT_WORK - this.#work.size,
    });
    this.#markers = new DoneMarkers(options);
    this.#judge = createJudge({ ...options, markers: this.#markers, limit: this.#limit });
    this.#handOver = createHandOver({
      ...options,
      folder: options.folder.path,
      isCurrent: (file) => this.#files.isCurrent(file) && !file.disturbed,
    });
  }

  /** The file is there with this version just now. */
  seen(path: string, kind: FileKind, version: FileVersion): void {
    if (!this.#files.seen(path, kind, version)) return;
    for (const ready of this.#markers.readyWith(path)) this.#files.hint(ready);
  }

  /** Something may have happened to the path: look in `inMs` ms at the latest. */
  hint(path: string, inMs = 0): void {
    this.#files.hint(path, inMs);
  }

  /** The path certainly does not exist any more, or the file there must be offered again. */
  forget(path: string): void {
    this.#options.inventory.taken.delete(path);
    this.#files.drop(path);
  }

  settling(): readonly SettlingFile[] {
    return this.#files.list();
  }

  /** Waits for what is under way; the signal has to be aborted before. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#files.close();
    await Promise.all(this.#work);
  }

  #start(path: string): void {
    const work = this.#attend(path)
      .catch((error: unknown) => this.#options.logger.error('looking at a file failed', { path, err: error }))
      .finally(() => {
        this.#work.delete(work);
        this.#files.resume();
      });
    this.#work.add(work);
  }

  /** One look at one path; at most one at a time for a file that waits. */
  async #attend(path: string): Promise<void> {
    const file = this.#options.inventory.waiting.get(path);
    if (file?.busy === true) return;
    if (file !== undefined) Object.assign(file, { busy: true, disturbed: false });
    const lookedAtMs = await this.#limit(async () => {
      const startedAtMs = this.#options.clock.elapsed();
      const entry = await lookAt(join(this.#options.folder.path, path));
      if (file !== undefined) file.busy = false;
      this.#note(path, entry);
      return startedAtMs;
    });
    if (file === undefined || !this.#files.isCurrent(file)) return;
    // Unchanged between two looks: measured to the beginning of this one.
    const unchangedMs = lookedAtMs - file.sinceMs;
    if (unchangedMs >= this.#files.requiredMs(file) || this.#markers.isWantedFor(file))
      await this.#offer(file, unchangedMs);
  }

  #note(path: string, entry: PathEntry): void {
    const { folder, inventory, notAFile } = this.#options;
    const kind = folder.accepts(path);
    const file = inventory.waiting.get(path);
    if (entry.is === 'file' && kind !== null) {
      this.seen(path, kind, entry.version);
      return;
    }
    if (entry.is !== 'unclear' && entry.is !== 'file') inventory.leaves(path);
    if (entry.is !== 'unclear') this.#files.drop(path);
    else if (file?.busy === false) this.#files.wait(file, wait(SLOW_RECHECK_MS, file.why));
    notAFile(path, entry);
  }

  async #offer(file: WaitingFile, unchangedMs: number): Promise<void> {
    const { folder, logger } = this.#options;
    file.busy = true;
    this.#files.suspend(file.path);
    const verdict = await this.#judge(file, unchangedMs);
    const result = verdict.is === 'complete' ? await this.#handOver(file, verdict) : verdict;
    if (result === 'taken') {
      if (verdict.is === 'complete' && verdict.doubt !== null)
        logger.warn('The end of a file may be missing; taking it as it is', {
          folder: folder.path,
          path: file.path,
          why: verdict.doubt,
        });
      this.#files.took(file);
      return;
    }
    const { why } = result;
    if (why !== null && why !== file.why) logger.debug('file waits', { folder: folder.path, path: file.path, why });
    this.#files.wait(file, result);
  }
}

/** Files between their deadline and the end of their look or offer. */
const MOST_AT_WORK = 256;
/** Each takes a thread of the pool for good when the share hangs. */
const LOOKS_AT_ONCE = 8;
