import { join } from 'node:path';
import pLimit from 'p-limit';
import { isUntouched } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { createJudge, SLOW_RECHECK_MS, wait } from './completeness.ts';
import type { Complete, Judge, Wait } from './completeness.ts';
import { Deadlines } from './deadlines.ts';
import { AwaitedMarkers, noteVersion, pauseBefore, requiredMs, startWaiting, whyItWaits } from './waiting-file.ts';
import type { WaitingFile } from './waiting-file.ts';
import type { FolderParts, Inventory } from './inventory.ts';
import type { OpenWriters } from './open-writers.ts';
import { LOOKS_AT_ONCE, lookAt } from './path-entry.ts';
import type { PathEntry } from './path-entry.ts';
import type { FileKind, SettlingFile } from './ports.ts';
import { ofFiles, Rejections } from './refused-paths.ts';

interface SettlerOptions extends FolderParts {
  readonly writers: OpenWriters;
  /** Whether files in the folder may be offered now. Called right before each offer. */
  readonly isRootSound: () => Promise<boolean>;
  /** Called when a path turns out not to be one of our files. */
  readonly notAFile: (path: string, entry: PathEntry) => void;
}

/**
 * Waits until files settle, using what scans and hints report. A file is offered to the sink once it has stayed
 * unchanged for its settle time, no process is writing to it, and its container is intact. Owns one timer and the
 * checks in progress.
 */
export class Settler implements AsyncDisposable {
  readonly #options: SettlerOptions;
  readonly #inventory: Inventory;
  readonly #deadlines: Deadlines;
  readonly #looks = pLimit(LOOKS_AT_ONCE);
  readonly #offers = pLimit(OFFERS_AT_ONCE);
  readonly #markers: AwaitedMarkers;
  readonly #judge: Judge;
  readonly #rejections: Rejections;
  readonly #work = new Set<Promise<void>>();

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#inventory = options.inventory;
    this.#deadlines = new Deadlines(
      options.clock,
      (path) => this.#start(path),
      () => MOST_AT_WORK - this.#work.size,
    );
    this.#markers = new AwaitedMarkers(options.folder, options.inventory.waiting);
    this.#judge = createJudge({ ...options, limit: this.#looks });
    this.#rejections = new Rejections(options.folder.path, options.logger, ofFiles);
  }

  /** Records that the file currently exists with this version. */
  seen(path: string, kind: FileKind, version: FileVersion): void {
    const { taken, waiting } = this.#inventory;
    const known = waiting.get(path);
    if (known?.busy === true) {
      known.disturbed ||= !isUntouched(known.version, version);
      return;
    }
    if (taken.isSame(path, version)) {
      this.#drop(path);
      return;
    }
    const now = this.#options.clock.elapsed();
    const file = known ?? startWaiting(path, kind, version, now, pauseBefore(taken.get(path), version));
    const isChanged = noteVersion(file, version, now);
    waiting.set(path, file);
    // An unchanged file keeps its deadline, because it may be waiting for something else.
    if (isChanged || !this.#deadlines.has(path)) this.#deadlines.set(path, file.sinceMs + this.#requiredMs(file));
    if (isChanged || known === undefined) for (const ready of this.#markers.readyWith(path)) this.hint(ready);
  }

  /** Schedules a check of a path that may have changed, within `inMs` ms but no more often than every 100 ms. */
  hint(path: string, inMs = 0): void {
    const { signal, clock } = this.#options;
    if (signal.aborted) return;
    const file = this.#inventory.waiting.get(path);
    if (file?.busy === true) {
      file.disturbed = true;
      return;
    }
    const earliest = (file?.lookedAtMs ?? -Infinity) + LOOK_INTERVAL_MS;
    this.#deadlines.hasten(path, Math.max(clock.elapsed() + inMs, earliest));
  }

  /** Forgets a path that certainly no longer exists, or whose file must be offered again. */
  forget(path: string): void {
    this.#inventory.taken.delete(path);
    this.#drop(path);
  }

  settling(): readonly SettlingFile[] {
    const { folder, clock } = this.#options;
    const now = clock.elapsed();
    return Array.from(this.#inventory.waiting.values(), (file) => ({
      folder: folder.path,
      path: file.path,
      kind: file.kind,
      version: file.version,
      size: file.version.size,
      why: whyItWaits(file, folder.settleMs, now),
      lacksMarker: file.lacksMarker,
    }));
  }

  /** Waits for the work in progress. Abort the signal first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#deadlines.close();
    await Promise.all(this.#work);
  }

  #start(path: string): void {
    const work = this.#attend(path)
      .catch((error: unknown) => this.#options.logger.error('looking at a file failed', { path, err: error }))
      .finally(() => {
        this.#work.delete(work);
        this.#deadlines.resume();
      });
    this.#work.add(work);
  }

  /** Checks a path once. A waiting file has at most one check in progress. */
  async #attend(path: string): Promise<void> {
    const file = this.#inventory.waiting.get(path);
    if (file?.busy === true) return;
    if (file !== undefined) Object.assign(file, { busy: true, disturbed: false });
    const lookedAtMs = await this.#looks(async () => {
      const startedAtMs = this.#options.clock.elapsed();
      const entry = await lookAt(join(this.#options.folder.path, path));
      if (file !== undefined) file.busy = false;
      this.#note(path, entry);
      return startedAtMs;
    });
    if (file === undefined || !this.#isCurrent(file)) return;
    // The file is known to be unchanged only until this check started.
    const unchangedMs = lookedAtMs - file.sinceMs;
    const isMarked = this.#options.folder.markerOf(path) !== null;
    if (isMarked || unchangedMs >= this.#requiredMs(file)) await this.#offer(file, unchangedMs);
  }

  #note(path: string, entry: PathEntry): void {
    const { folder, notAFile } = this.#options;
    const kind = folder.accepts(path);
    const file = this.#inventory.waiting.get(path);
    if (entry.is === 'file' && kind !== null) {
      this.seen(path, kind, entry.version);
      return;
    }
    if (entry.is !== 'unclear' && entry.is !== 'file') this.#inventory.leaves(path);
    if (entry.is !== 'unclear') this.#drop(path);
    else if (file?.busy === false) this.#wait(file, wait(SLOW_RECHECK_MS, file.why));
    notAFile(path, entry);
  }

  async #offer(file: WaitingFile, unchangedMs: number): Promise<void> {
    const { folder, logger } = this.#options;
    const { path } = file;
    file.busy = true;
    this.#deadlines.delete(path);
    const verdict = await this.#judge(file, unchangedMs);
    const delay = verdict.is === 'complete' ? await this.#handOver(file, verdict) : verdict;
    if (delay !== null) {
      const { why } = delay;
      if (why !== null && why !== file.why) logger.debug('file waits', { folder: folder.path, path, why });
      this.#wait(file, delay);
      return;
    }
    if (verdict.is === 'complete' && verdict.doubt !== null)
      logger.warn('The end of a file may be missing; accepting it as it is', {
        folder: folder.path,
        path,
        why: verdict.doubt,
      });
    this.#inventory.took(file);
    if (this.#inventory.waiting.get(path) === file) this.#drop(path);
    if (file.disturbed) this.hint(path);
  }

  /**
   * Offers a file to the sink. Never rejects.
   * @returns how long to wait before the next check; null if the sink accepted the file
   */
  async #handOver(file: WaitingFile, { flaw, isUnreadable }: Complete): Promise<Wait | null> {
    const { folder, signal, sink } = this.#options;
    const { path, kind, version } = file;
    file.why = 'being accepted';
    try {
      return await this.#offers(async () => {
        // The file may have changed while it waited for its turn.
        if (!this.#isCurrent(file) || file.disturbed) return wait(0, null);
        await sink.complete({ folder: folder.path, path, kind, version, flaw, ...(isUnreadable && { isUnreadable }) });
        this.#rejections.taken();
        return null;
      });
    } catch (error) {
      if (signal.aborted) return wait(0, null);
      file.rejections += 1;
      const forMs = Math.min(1000 * 2 ** (file.rejections - 1), SLOW_RECHECK_MS);
      this.#rejections.rejected(path, forMs, error);
      return wait(forMs, 'it could not be accepted; retrying soon');
    }
  }

  #wait(file: WaitingFile, { forMs, why }: Wait): void {
    file.busy = false;
    file.why = why;
    if (!this.#isCurrent(file)) return;
    this.#deadlines.set(file.path, this.#options.clock.elapsed() + forMs);
    if (file.disturbed) this.hint(file.path);
  }

  #drop(path: string): void {
    this.#inventory.waiting.delete(path);
    this.#deadlines.delete(path);
  }

  #isCurrent(file: WaitingFile): boolean {
    return !this.#options.signal.aborted && this.#inventory.waiting.get(file.path) === file;
  }

  #requiredMs(file: WaitingFile): number {
    return requiredMs(file, this.#options.folder.settleMs);
  }
}

const MOST_AT_WORK = 256;
const OFFERS_AT_ONCE = 16;
const LOOK_INTERVAL_MS = 100;
