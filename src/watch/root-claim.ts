import { readFile, readdir, readlink, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf } from '../errno.ts';
import type { Logger } from '../log/logger.ts';
import { operatorCommand } from '../read-permission.ts';
import { shellWord } from '../shell-word.ts';
import { unlessHung } from '../unless-hung.ts';
import type { MonotonicClock } from './clock.ts';
import { onlyRead } from './ports.ts';
import type { RootVerdict } from './root-check.ts';
import { isAhead, markOf, placeMark, readMark, replaceMark, writeCounter } from './root-mark.ts';
import type { FolderClaimant, FolderOwner } from './root-mark.ts';
import { judge, whyForeign, whyInside } from './root-owner.ts';

/**
 * Prevents two dropcasts from watching the same folder, where both would upload everything. A kernel lock excludes
 * other processes of the same user. A mark in the folder excludes everyone else, even after a restart
 * (docs/decisions/0028-a-folder-has-one-owner.md).
 */
export class RootClaim implements AsyncDisposable {
  readonly #path: string;
  readonly #owner: FolderClaimant;
  readonly #logger: Logger;
  readonly #isOnlyRead: boolean;
  #lock: { readonly on: string; readonly lock: AsyncDisposable } | null = null;
  #isMarked = false;
  #lacksRoom = false;
  /** Counter in the folder's mark if it is our ledger's; 0 for any other mark. */
  #counter = 0;
  #isTrusted = false;
  /** Last logged message, so that each state is logged once. */
  #said = '';

  /** @param isOnlyRead dropcast need not write to the folder, so a missing mark is logged at level info */
  constructor(path: string, owner: FolderClaimant, logger: Logger, isOnlyRead = false) {
    this.#path = path;
    this.#owner = owner;
    this.#logger = logger;
    this.#isOnlyRead = isOnlyRead;
  }

  /** Whether the disk has no room for the mark. Every scan tries again. */
  get lacksRoom(): boolean {
    return this.#lacksRoom;
  }

  /**
   * Claims the folder or confirms the claim.
   *
   * @param wasOlder whether the ledger was found older than the folder and no operator has answered yet
   */
  async hold(wasOlder = false): Promise<RootVerdict> {
    try {
      const locked = await this.#locked();
      // Hosts of a fleet may share a machine, so there the mark decides rather than the lock.
      const isAlone = (this.#owner.fleet ?? null) === null;
      const marked = locked !== null && isAlone ? locked : await this.#marked(wasOlder);
      const rival = marked ?? (this.#isMarked ? null : locked);
      const isOlder = await this.#isOlder(wasOlder);
      if (rival !== null) return { isSound: false, why: rival, ...(isOlder && { isOlder }) };
      return await this.#answered(isOlder);
    } catch (error) {
      return { isSound: false, why: `it cannot be marked as ours (${errnoOf(error)})` };
    }
  }

  /** Accepts a ledger that is behind the mark, after an operator confirmed that it is right. */
  trustNext(): void {
    this.#isTrusted = true;
  }

  mark(): Promise<string | null> {
    return markOf(this.#path, this.#owner.ledger);
  }

  foreign(directory: string): Promise<string | null> {
    return whyForeign(directory, this.#owner);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const lock = this.#lock;
    this.#lock = null;
    await lock?.lock[Symbol.asyncDispose]();
  }

  /** @returns why another running dropcast has the folder, or null */
  async #locked(): Promise<string | null> {
    const directory = await stat(this.#path, { bigint: true });
    const on = `${directory.dev} ${directory.ino}`;
    if (this.#lock?.on === on) return null;
    // The path now leads to another directory: release the old lock.
    await this[Symbol.asyncDispose]();
    const verdict = await lockFolder(directory);
    if (verdict.is === 'rival') return `another dropcast watches it (process ${verdict.pid}); stop one of the two`;
    if (verdict.is === 'held') this.#lock = { on, lock: verdict.lock };
    return null;
  }

  /** @returns why the folder has another owner, or null */
  async #marked(wasOlder: boolean): Promise<string | null> {
    for (let turn = 0; turn < mostTurns; turn += 1) {
      const found = await readMark(this.#path);
      const verdict = await judge(this.#path, found, this.#owner);
      // Marks from copies of our ledger count too, because such a copy may have uploaded files.
      const isOfLedger = found.is === 'mark' && found.owner.ledger === this.#owner.ledger;
      this.#counter = isOfLedger ? (found.owner.counter ?? 0) : 0;
      if (verdict.is === 'foreign') return verdict.why;
      if (verdict.is === 'ours') {
        this.#isMarked = true;
        this.#lacksRoom = false;
        return null;
      }
      // Another instance took over the folder. Taking it back would start a tug-of-war.
      if (verdict.is === 'stale' && this.#isMarked)
        return `the dropcast with the state directory ${verdict.owner.stateDir} took it over; restart this one to take it back`;
      const above = await whyInside(this.#path, this.#owner);
      if (above !== null) return above;
      // The mark stays until an operator answers.
      if (verdict.is === 'stale' && !this.#isTrusted && (await this.#isOlder(wasOlder))) return null;
      if (!(await this.#take(verdict))) return null;
    }
    return `others change its mark at the same time; if this lasts, run \`rm -r ${shellWord(this.#path)}/.dropcast.*\``;
  }

  /** Whether the ledger is older than the mark. A mark ahead of the ledger was written by one that knew more files. */
  async #isOlder(wasOlder: boolean): Promise<boolean> {
    const { ledgerCounter: counter = null, fleet = null } = this.#owner;
    if (counter === null) return false;
    // In a fleet, the hosts restore the last writes that the ledger lost.
    if (wasOlder && fleet === null) return true;
    // A ledger that is not responding accepts no files, so the next check is soon enough.
    return counter.isBehind(this.#counter).catch(() => false);
  }

  async #answered(isOlder: boolean): Promise<RootVerdict> {
    const { ledgerCounter = null, fleet = null } = this.#owner;
    if (isOlder && !this.#isTrusted)
      return { isSound: false, isBehind: true, why: whyBehind(this.#path, fleet === null) };
    if (isOlder) await ledgerCounter?.advance(this.#counter);
    this.#isTrusted = false;
    return { isSound: true };
  }

  /** @returns false if the folder cannot be marked, so that only the lock protects it */
  async #take(verdict: {
    readonly is: string;
    readonly text?: string;
    readonly owner?: FolderOwner;
  }): Promise<boolean> {
    const { fleet = null, ledgerCounter = null, ...owner } = this.#owner;
    try {
      const ours = {
        ...owner,
        ...(fleet !== null && { place: fleet.placeOf(this.#path) }),
        ...(ledgerCounter !== null && { counter: await ledgerCounter.current() }),
      };
      const placed = await (verdict.text === undefined
        ? placeMark(this.#path, ours)
        : replaceMark(this.#path, verdict.text, ours));
      if (placed === 'taken') await delay(takenMs);
      else if (verdict.is === 'stale')
        this.#say('Took over a folder whose dropcast is gone', { stateDir: verdict.owner?.stateDir });
      return true;
    } catch (error) {
      // Another process has just removed the stale mark.
      if (errnoOf(error) === 'ENOENT' && verdict.text !== undefined) return true;
      // The folder stays in use. If the disk is full, sending the files may free space.
      const code = errnoOf(error);
      this.#lacksRoom = code === 'ENOSPC' || code === 'EDQUOT';
      if (this.#lacksRoom)
        this.#say(
          `The disk is full: free some space (\`df -h ${shellWord(this.#path)}\`). Until the folder can be marked, ${unprotected}`,
          { code },
        );
      else if (this.#isOnlyRead && mayNotWrite.has(code)) this.#say(`The folder is ${onlyRead}`, { code }, 'info');
      else this.#say(`The folder cannot be marked: ${unprotected}`, { code });
      return false;
    }
  }

  #say(message: string, fields: Readonly<Record<string, unknown>>, level: 'info' | 'warn' = 'warn'): void {
    if (this.#said === message) return;
    this.#said = message;
    this.#logger[level](message, { folder: this.#path, ...fields });
  }
}

/** Explains why a folder with an older ledger is frozen. @param isAlone the ledger is in this host's state directory */
export function whyBehind(folder: string, isAlone = true): string {
  const what = isAlone ? 'the state directory' : 'the ledger of the fleet';
  const [adopt, resume] = ['adopt', 'resume'].map((name) => operatorCommand(`dropcast ${name} ${shellWord(folder)}`));
  return `${what} is older than this folder; was it restored from a backup? Files missing from it may already be on the service. If all files in the folder were uploaded, run \`${adopt}\`; to upload the missing ones, run \`${resume}\``;
}

const mayNotWrite: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

const mostTurns = 10;
/** Pause after losing a race for the mark, so that the winner can finish. Otherwise the next round waits again. */
const takenMs = 50;

/** Risk of watching a folder without a mark. */
const unprotected = 'another user or machine that runs dropcast could upload the same files';

/** `shared`: a process of another or an unknown user has the name, which proves nothing and protects nothing. */
type LockVerdict =
  | { readonly is: 'held'; readonly lock: AsyncDisposable }
  | { readonly is: 'rival'; readonly pid: number }
  | { readonly is: 'shared' };

/**
 * Locks a folder for a running dropcast with a name in the abstract namespace of Unix sockets. The kernel releases the
 * lock when the process ends. The lock keeps no file open in the folder, so the file system can be unmounted. Any user
 * can take such a name, so a rival counts only if its process belongs to our own user.
 *
 * @param directory device and inode, which are the same for every path to the directory
 */
async function lockFolder(directory: { readonly dev: bigint; readonly ino: bigint }): Promise<LockVerdict> {
  if (process.platform !== 'linux') return { is: 'shared' };
  const name = `dropcast-folder-${process.geteuid?.()}-${directory.dev}-${directory.ino}`;
  const lock = await listen(`\0${name}`);
  if (lock !== null) return { is: 'held', lock };
  const pid = await ownProcessWith(name);
  return pid === null ? { is: 'shared' } : { is: 'rival', pid };
}

async function listen(name: string): Promise<AsyncDisposable | null> {
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(name, resolve);
    });
  } catch (error) {
    if (errnoOf(error) === 'EADDRINUSE') return null;
    throw error;
  }
  server.unref();
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** Finds a process of our own user that has a socket with this name. */
async function ownProcessWith(name: string): Promise<number | null> {
  const table = await readFile('/proc/self/net/unix', 'utf8').catch(() => '');
  const inodes = new Set(
    table
      .split('\n')
      .filter((line) => line.endsWith(` @${name}`))
      .map((line) => `socket:[${line.trim().split(/\s+/u)[6]}]`),
  );
  if (inodes.size === 0) return null;
  for (const pid of await readdir('/proc')) if (/^\d+$/u.test(pid) && (await hasOne(pid, inodes))) return Number(pid);
  return null;
}

async function hasOne(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  try {
    if ((await stat(`/proc/${pid}`)).uid !== process.geteuid?.()) return false;
    const names = await readdir(`/proc/${pid}/fd`);
    const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
    return targets.some((target) => inodes.has(target));
  } catch {
    return false;
  }
}

interface MarkStepsOptions {
  readonly path: string;
  readonly owner: FolderClaimant;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/**
 * Updates the counter in a folder's mark after an intake. The ledger stores the number first, so a crash never leaves a
 * mark that is ahead of its ledger. Marks are written at most once a minute, and only after an intake, because writing
 * would wake a sleeping disk. Owns one timer (docs/decisions/0095-marks-have-a-counter.md).
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

  /** Schedules an update of the mark after a file was accepted. */
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
    // A mark that is missing or has another owner is handled by the next check of the folder.
    if (found.is !== 'mark' || (await judge(path, found, owner)).is !== 'ours') return;
    const counter = await owner.ledgerCounter?.advance();
    // Another host of the fleet may have written a larger counter.
    if (counter !== undefined && !isAhead(found.owner.counter ?? 0, counter))
      await writeCounter(path, found.text, counter);
  }

  /** Warns only once, because a folder that became read-only usually stays so. */
  #warn(err: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.logger.warn('Cannot write the mark of the folder: an old copy of the ledger would go unnoticed', {
      folder: this.#options.path,
      err,
    });
  }
}

const stepMs = 60_000;
