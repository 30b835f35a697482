import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import { errnoOf } from '../errno.ts';
import { onlyRead } from './ports.ts';

/** The hidden file in the root of a folder whose events must arrive. It exists for a moment. */
export const probeName = '.dropcast-probe';

export interface EventProofOptions {
  /** Absolute path of the folder. */
  readonly path: string;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  /** Once it fires, nothing is written. */
  readonly signal: AbortSignal;
  /** dropcast only needs to read the folder. */
  readonly isOnlyRead?: boolean;
  /** Called when `deafBecause` or `untestedBecause` changed. */
  readonly changed: () => void;
}

/**
 * Proves that events arrive: a deaf watcher reports nothing. Writes a hidden file once the watches are in place, and
 * then every hour. Owns one timer and the file.
 */
export class EventProof implements AsyncDisposable {
  readonly #options: EventProofOptions;
  #deafBecause: string | null = null;
  #untestedBecause: string | null = null;
  #heard: (() => void) | null = null;
  #cancelNext: (() => void) | null = null;
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;

  constructor(options: EventProofOptions) {
    this.#options = options;
  }

  /** Why events do not arrive, or null. */
  get deafBecause(): string | null {
    return this.#deafBecause;
  }

  /** Why the test was not possible, or null. */
  get untestedBecause(): string | null {
    return this.#untestedBecause;
  }

  /** The watches are in place. Tests them. */
  begin(): void {
    if (this.#isRunning || this.#options.signal.aborted) return;
    this.#isRunning = true;
    this.#running = this.#test().finally(() => {
      this.#isRunning = false;
    });
  }

  /** An event for the test file arrived. */
  heard(): void {
    this.#heard?.();
  }

  /** The watches are closed. There is nothing to test until they are reopened. */
  async end(): Promise<void> {
    this.#cancelNext?.();
    this.#cancelNext = null;
    this.#heard?.();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  async #test(): Promise<void> {
    const { path, clock, logger, signal } = this.#options;
    this.#cancelNext?.();
    const file = join(path, probeName);
    try {
      const isHeard = this.#listen();
      await rm(file, { force: true });
      await using _ = await open(file, 'wx', 0o600);
      const arrived = await isHeard;
      if (signal.aborted) return;
      logger.debug(arrived ? 'events arrive' : 'events do not arrive', { folder: path });
      this.#conclude(arrived ? null : NOTHING_HEARD, null);
    } catch (error) {
      const code = errnoOf(error);
      // A folder that is away and a full disk are temporary, and reported elsewhere.
      const why = MAY_NOT_WRITE.has(code)
        ? this.#options.isOnlyRead === true
          ? onlyRead
          : `cannot test whether events arrive: no file can be written (${code})`
        : null;
      this.#conclude(this.#deafBecause, why);
    } finally {
      this.#heard?.();
      await rm(file, { force: true }).catch(() => undefined);
      if (!signal.aborted) this.#cancelNext = clock.after(EVERY_MS * (0.75 + Math.random() / 2), () => this.begin());
    }
  }

  /** Whether an event arrives in time. One tick more: after a blocked event loop, timers fire before events. */
  #listen(): Promise<boolean> {
    return new Promise((resolve) => {
      const give = (isHeard: boolean) => (): void => {
        this.#heard = null;
        cancel();
        resolve(isHeard);
      };
      const late = (): void => {
        cancel = this.#options.clock.after(TICK_MS, give(false));
      };
      let cancel = this.#options.clock.after(WITHIN_MS, late);
      this.#heard = give(true);
    });
  }

  #conclude(deaf: string | null, untested: string | null): void {
    if (deaf === this.#deafBecause && untested === this.#untestedBecause) return;
    this.#deafBecause = deaf;
    this.#untestedBecause = untested;
    this.#options.changed();
  }
}

const WITHIN_MS = 10_000;
const TICK_MS = 1000;
const EVERY_MS = 3_600_000;
const MAY_NOT_WRITE = new Set(['EACCES', 'EPERM', 'EROFS', 'EISDIR', 'EEXIST']);
const NOTHING_HEARD = `no event of a test file arrived within ${WITHIN_MS / 1000} s; the folder is scanned instead`;
