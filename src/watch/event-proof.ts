import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';
import type { FolderParts } from './inventory.ts';
import { onlyRead } from './ports.ts';

/** Hidden file created briefly in the root of a folder to test that events arrive. */
export const probeName = '.dropcast-probe';

interface EventProofOptions extends FolderParts {
  /** Called when `deafBecause` or `untestedBecause` changes. */
  readonly changed: () => void;
}

/**
 * Tests that events arrive, because a deaf watcher reports nothing. Writes a hidden file once the watches are in place,
 * and every hour after that. Owns one timer and the file.
 */
export class EventProof {
  readonly #options: EventProofOptions;
  #deafBecause: string | null = null;
  #untestedBecause: string | null = null;
  #heard: (() => void) | null = null;
  #cancelNext: (() => void) | null = null;
  #running: Promise<void> | null = null;

  constructor(options: EventProofOptions) {
    this.#options = options;
  }

  get deafBecause(): string | null {
    return this.#deafBecause;
  }

  get untestedBecause(): string | null {
    return this.#untestedBecause;
  }

  begin(): void {
    if (!this.#options.signal.aborted) this.#running ??= this.#test().finally(() => (this.#running = null));
  }

  heard(): void {
    this.#heard?.();
  }

  /** Stops testing when the watches are closed, until they are reopened. */
  async end(): Promise<void> {
    this.#cancelNext?.();
    this.#cancelNext = null;
    this.#heard?.();
    await this.#running;
  }

  async #test(): Promise<void> {
    const { folder, clock, logger, signal } = this.#options;
    this.#cancelNext?.();
    const file = join(folder.path, probeName);
    try {
      const isHeard = this.#listen();
      await rm(file, { force: true });
      await using _ = await open(file, 'wx', 0o600);
      const arrived = await isHeard;
      if (signal.aborted) return;
      logger.debug(arrived ? 'events arrive' : 'events do not arrive', { folder: folder.path });
      this.#conclude(arrived ? null : NOTHING_HEARD, null);
    } catch (error) {
      const code = errnoOf(error);
      // Other failures, such as a missing folder or a full disk, are temporary and reported elsewhere.
      const why = MAY_NOT_WRITE.has(code)
        ? folder.isOnlyRead
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

  /**
   * Whether an event arrives in time. Waits an extra tick, because timers fire before events once a blocked loop
   * resumes.
   */
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
