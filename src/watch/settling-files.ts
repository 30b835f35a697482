import { isUntouched } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { MonotonicClock } from './clock.ts';
import type { Wait } from './completeness.ts';
import { Deadlines } from './deadlines.ts';
import type { Inventory } from './inventory.ts';
import type { FileKind, SettlingFile } from './ports.ts';
import { noteVersion, pauseBefore, requiredMs, startWaiting, whyItWaits } from './waiting-file.ts';
import type { WaitingFile } from './waiting-file.ts';

export interface SettlingFilesOptions {
  readonly folder: { readonly path: string; readonly settleMs: number };
  readonly inventory: Inventory;
  readonly clock: MonotonicClock;
  /** Once it fires, nothing is added any more. */
  readonly signal: AbortSignal;
  /** It is time to look at the path. Must not throw. */
  readonly due: (path: string) => void;
  /** How many more paths may come due now; after 0 call `resume`. */
  readonly room: () => number;
}

/** The files that settle, and when to look at each of them next. Owns one timer. */
export class SettlingFiles {
  readonly #options: SettlingFilesOptions;
  readonly #inventory: Inventory;
  readonly #deadlines: Deadlines;

  constructor(options: SettlingFilesOptions) {
    this.#options = options;
    this.#inventory = options.inventory;
    this.#deadlines = new Deadlines(options.clock, options.due, options.room);
  }

  /**
   * The file is there with this version just now.
   *
   * @returns whether it begins to wait, for the first time or again
   */
  seen(path: string, kind: FileKind, version: FileVersion): boolean {
    const { taken, waiting } = this.#inventory;
    const known = waiting.get(path);
    if (known?.busy === true) {
      known.disturbed ||= !isUntouched(known.version, version);
      return false;
    }
    if (taken.isSame(path, version)) {
      this.drop(path);
      return false;
    }
    const now = this.#options.clock.elapsed();
    const file = known ?? startWaiting(path, kind, version, now, pauseBefore(taken.get(path), version));
    const isChanged = noteVersion(file, version, now);
    waiting.set(path, file);
    // An unchanged file keeps its deadline: it may wait for more than staying unchanged.
    if (isChanged || !this.#deadlines.has(path)) this.#deadlines.set(path, file.sinceMs + this.requiredMs(file));
    return isChanged || known === undefined;
  }

  /** Something may have happened to the path: look in `inMs` ms at the latest, but not more often than every 100 ms. */
  hint(path: string, inMs = 0): void {
    const { signal, clock } = this.#options;
    if (signal.aborted) return;
    const file = this.#inventory.waiting.get(path);
    if (file?.busy === true) file.disturbed = true;
    else
      this.#deadlines.hasten(
        path,
        Math.max(clock.elapsed() + inMs, (file?.lookedAtMs ?? -Infinity) + LOOK_INTERVAL_MS),
      );
  }

  /** Look at the file again, after that time. */
  wait(file: WaitingFile, { forMs, why }: Wait): void {
    file.busy = false;
    file.why = why;
    if (!this.isCurrent(file)) return;
    this.#deadlines.set(file.path, this.#options.clock.elapsed() + forMs);
    if (file.disturbed) this.hint(file.path);
  }

  /** The sink has the file. */
  took(file: WaitingFile): void {
    this.#inventory.took(file);
    if (this.#inventory.waiting.get(file.path) === file) this.drop(file.path);
    if (file.disturbed) this.hint(file.path);
  }

  /** The file does not settle any more, and no look at it is due. */
  drop(path: string): void {
    this.#inventory.waiting.delete(path);
    this.suspend(path);
  }

  /** No look at the path is due until something else happens. */
  suspend(path: string): void {
    this.#deadlines.delete(path);
  }

  resume(): void {
    this.#deadlines.resume();
  }

  isCurrent(file: WaitingFile): boolean {
    return !this.#options.signal.aborted && this.#inventory.waiting.get(file.path) === file;
  }

  requiredMs(file: WaitingFile): number {
    return requiredMs(file, this.#options.folder.settleMs);
  }

  list(): SettlingFile[] {
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

  close(): void {
    this.#deadlines.close();
  }
}

const LOOK_INTERVAL_MS = 100;
