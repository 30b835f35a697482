import { join } from 'node:path';
import { contentKey, isUntouched } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Logger } from '../log/logger.ts';
import { Deadlines } from './deadlines.ts';
import { proveFile } from './file-proof.ts';
import type { MonotonicClock } from './monotonic-clock.ts';
import type { Observation } from './observation.ts';
import { observe } from './observation.ts';
import type { OpenWriters } from './open-writers.ts';
import type { CompleteFile, FileKind, SettlingFile } from './sighting.ts';
import { slots } from './slots.ts';
import { graceMs, requiredMs, startWaiting, takeSighting, whyItWaits } from './waiting-file.ts';
import type { WaitingFile } from './waiting-file.ts';

export interface SettlerOptions {
  readonly folder: { readonly path: string; readonly settleMs: number };
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  readonly writers: OpenWriters;
  /** Whether files of the folder may be offered now; asked right before each offer. */
  readonly isRootSound: () => Promise<boolean>;
  readonly complete: (file: CompleteFile) => Promise<void>;
  /** A look at a path found no file of ours. */
  readonly notAFile: (path: string, observation: Observation) => void;
  readonly accepts: (path: string) => FileKind | null;
}

/**
 * Decides when a file is complete. Whoever sees a path, a scan or a hint, tells it here; a file is offered once it stood still
 * for its settle time, nobody is seen writing to it, and its container does not contradict.
 */
export class Settler {
  readonly #options: SettlerOptions;
  /** Path → content key of what the sink has. One short string per file: there may be 100,000. */
  readonly #taken = new Map<string, string>();
  readonly #waiting = new Map<string, WaitingFile>();
  readonly #deadlines: Deadlines;
  readonly #look = slots(LOOKS_AT_ONCE);
  readonly #offer = slots(OFFERS_AT_ONCE);
  readonly #work = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(
      options.clock,
      (path) => this.#start(path),
      () => MOST_AT_WORK - this.#work.size,
    );
  }

  /** The sink has the version with this content key already. */
  rememberKey(path: string, key: string): void {
    this.#taken.set(path, key);
  }

  /** The file was seen there, with this version, just now. */
  sighted(path: string, kind: FileKind, version: FileVersion): void {
    const now = this.#options.clock.now();
    const waiting = this.#waiting.get(path);
    if (waiting?.busy === true) {
      waiting.disturbed ||= !isUntouched(waiting.version, version);
      return;
    }
    if (this.#taken.get(path) === contentKey(version)) {
      this.#stopWaiting(path);
      return;
    }
    const file = waiting ?? startWaiting(path, kind, version, now);
    const isChanged = takeSighting(file, version, now);
    this.#waiting.set(path, file);
    // An unchanged file keeps its deadline: it may wait for more than standing still.
    if (isChanged || !this.#deadlines.has(path)) {
      this.#deadlines.set(path, file.sinceMs + requiredMs(file, this.#options.folder.settleMs));
    }
  }

  /** Something may have happened to the path: look soon, but not more often than every 100 ms. */
  hint(path: string): void {
    if (this.#isClosed) return;
    const waiting = this.#waiting.get(path);
    if (waiting?.busy === true) waiting.disturbed = true;
    else this.#deadlines.hasten(path, (waiting?.lookedAtMs ?? -Infinity) + LOOK_INTERVAL_MS);
  }

  /** The path is certainly not there any more. */
  forget(path: string): void {
    this.#taken.delete(path);
    this.#stopWaiting(path);
  }

  /** Path → content key of what the sink has. */
  get taken(): ReadonlyMap<string, string> {
    return this.#taken;
  }

  get waiting(): ReadonlyMap<string, WaitingFile> {
    return this.#waiting;
  }

  settling(): SettlingFile[] {
    const { folder, clock } = this.#options;
    return Array.from(this.#waiting.values(), (file) => ({
      folder: folder.path,
      path: file.path,
      size: file.version.size,
      why: whyItWaits(file, folder.settleMs, clock.now()),
    }));
  }

  /** Takes no more work and waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#deadlines.close();
    await Promise.all(this.#work);
  }

  #stopWaiting(path: string): void {
    this.#waiting.delete(path);
    this.#deadlines.delete(path);
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

  /** One look at one path; at most one at a time for a file that waits. */
  async #attend(path: string): Promise<void> {
    const file = this.#waiting.get(path);
    if (file?.busy === true) return;
    if (file !== undefined) Object.assign(file, { busy: true, disturbed: false });
    const startedAt = await this.#look(async () => {
      const askedAt = this.#options.clock.now();
      const observation = await observe(join(this.#options.folder.path, path));
      if (file !== undefined) file.busy = false;
      this.#takeIn(path, observation);
      return askedAt;
    });
    if (file === undefined || this.#waiting.get(path) !== file || this.#isClosed) return;
    // The version was equal at two looks that lie so far apart: measured to the beginning of this one.
    const stoodStillMs = startedAt - file.sinceMs;
    if (stoodStillMs >= requiredMs(file, this.#options.folder.settleMs)) await this.#examine(file, stoodStillMs);
  }

  #takeIn(path: string, observation: Observation): void {
    const kind = this.#options.accepts(path);
    if (observation.is === 'file' && kind !== null) this.sighted(path, kind, observation.version);
    else {
      if (observation.is !== 'unclear') this.#stopWaiting(path);
      else if (this.#waiting.has(path)) this.#deadlines.set(path, this.#options.clock.now() + SLOW_RECHECK_MS);
      this.#options.notAFile(path, observation);
    }
  }

  async #examine(file: WaitingFile, stoodStillMs: number): Promise<void> {
    file.busy = true;
    this.#deadlines.delete(file.path);
    const verdict = await this.#verdict(file, stoodStillMs);
    if (verdict.is === 'wait') this.#wait(file, verdict.forMs, verdict.why);
    else await this.#hand(file, verdict.flaw);
  }

  async #verdict(file: WaitingFile, stoodStillMs: number): Promise<Verdict> {
    if (!(await this.#options.isRootSound())) return wait(SLOW_RECHECK_MS, 'the folder is not available');
    const veto = await this.#vetoOf(file, stoodStillMs);
    if (veto !== null) return veto;
    const proof = await this.#look(() =>
      proveFile(this.#options.folder.path, file.path, file.version, file.kind === 'media'),
    );
    if (proof.is === 'moved') return wait(0, null);
    if (proof.is === 'unreadable') return wait(SLOW_RECHECK_MS, proof.why);
    const flaw = file.version.size === 0 ? 'the file is empty' : proof.is === 'flawed' ? proof.flaw : null;
    const graceLeftMs = flaw === null ? 0 : graceMs(this.#options.folder.settleMs) - stoodStillMs;
    return graceLeftMs > 0 ? wait(graceLeftMs, flaw) : { is: 'complete', flaw };
  }

  async #vetoOf(file: WaitingFile, stoodStillMs: number): Promise<Verdict | null> {
    const now = this.#options.clock.now();
    if (file.vetoedSinceMs !== null && now - file.vetoedSinceMs > LONGEST_VETO_MS) return null;
    const writer = await this.#options.writers.of(file.version, stoodStillMs);
    file.vetoedSinceMs = writer === null ? null : (file.vetoedSinceMs ?? now);
    if (writer === null || file.vetoedSinceMs === null) return null;
    const recheckMs = Math.min(Math.max((now - file.vetoedSinceMs) / 10, FIRST_VETO_RECHECK_MS), LAST_VETO_RECHECK_MS);
    return wait(recheckMs, `open for writing by process ${writer.pid} (${writer.command})`);
  }

  #wait(file: WaitingFile, forMs: number, why: string | null): void {
    if (why !== null && why !== file.why) {
      this.#options.logger.debug('file waits', { folder: this.#options.folder.path, path: file.path, why });
    }
    file.busy = false;
    file.why = why;
    if (this.#waiting.get(file.path) !== file || this.#isClosed) return;
    this.#deadlines.set(file.path, this.#options.clock.now() + forMs);
    if (file.disturbed) this.hint(file.path);
  }

  async #hand(file: WaitingFile, flaw: string | null): Promise<void> {
    const { path, kind, version } = file;
    file.why = 'being taken over';
    try {
      const isTaken = await this.#offer(async () => {
        // It may have waited long for its turn.
        if (this.#isClosed || file.disturbed || this.#waiting.get(path) !== file) return false;
        await this.#options.complete({ folder: this.#options.folder.path, path, kind, version, flaw });
        return true;
      });
      if (isTaken) this.#took(file);
      else this.#wait(file, 0, null);
    } catch (error) {
      this.#rejected(file, error);
    }
  }

  #took(file: WaitingFile): void {
    this.#taken.set(file.path, contentKey(file.version));
    if (this.#waiting.get(file.path) === file) this.#stopWaiting(file.path);
    if (file.disturbed) this.hint(file.path);
  }

  #rejected(file: WaitingFile, error: unknown): void {
    if (this.#isClosed) return;
    file.rejections += 1;
    const forMs = Math.min(1000 * 2 ** (file.rejections - 1), SLOW_RECHECK_MS);
    const { folder, logger } = this.#options;
    logger.warn('file was not taken over', { folder: folder.path, path: file.path, retryInMs: forMs, err: error });
    this.#wait(file, forMs, 'it could not be taken over yet');
  }
}

type Verdict =
  | { readonly is: 'complete'; readonly flaw: string | null }
  | { readonly is: 'wait'; readonly forMs: number; readonly why: string | null };

function wait(forMs: number, why: string | null): Verdict {
  return { is: 'wait', forMs, why };
}

/** Files between their deadline and the end of their look or offer. */
const MOST_AT_WORK = 256;
const LOOKS_AT_ONCE = 32;
const OFFERS_AT_ONCE = 16;
const LOOK_INTERVAL_MS = 100;
const SLOW_RECHECK_MS = 30_000;
const FIRST_VETO_RECHECK_MS = 1000;
const LAST_VETO_RECHECK_MS = 5000;
/** A writer that holds a file open for six hours without a byte has forgotten it. */
const LONGEST_VETO_MS = 6 * 3_600_000;
