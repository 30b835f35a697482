import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';
import { operatorCommand } from '../service-user.ts';
import { shellWord } from '../shell-word.ts';
import { errnoOf } from '../errno.ts';
import { onlyRead } from './ports.ts';
import type { RootVerdict } from './root-check.ts';
import { lockFolder } from './root-lock.ts';
import { placeMark, readMark, replaceMark, withoutCounter } from './root-mark.ts';
import type { FolderClaimant, FolderOwner } from './root-mark.ts';
import { judge, whyForeign, whyInside } from './root-owner.ts';

/** Fingerprint of the mark that a ledger left in a folder, or null. */
export async function markOf(path: string, ledger: string): Promise<string | null> {
  const found = await readMark(path);
  if (found.is !== 'mark' || found.owner.ledger !== ledger) return null;
  return createHash('sha256').update(withoutCounter(found.text)).digest('hex').slice(0, 32);
}

/**
 * Keeps two dropcasts from watching one folder: both would upload everything. A lock of the kernel keeps off another process of the
 * same user; a mark in the folder keeps off everybody else, also after a restart
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
  /** The counter in a mark of our ledger; 0 for any other mark. */
  #counter = 0;
  #isTrusted = false;
  /** What was logged last: each state is said once. */
  #said = '';

  /** @param isOnlyRead dropcast needs to write nothing in the folder: that it has no mark is said at level info */
  constructor(path: string, owner: FolderClaimant, logger: Logger, isOnlyRead = false) {
    this.#path = path;
    this.#owner = owner;
    this.#logger = logger;
    this.#isOnlyRead = isOnlyRead;
  }

  /** The disk has no room for the mark: it is tried again at every scan. */
  get lacksRoom(): boolean {
    return this.#lacksRoom;
  }

  /**
   * Takes the folder, or confirms that it is still ours.
   *
   * @param wasOlder the ledger was older than the folder, and no operator has answered yet
   */
  async hold(wasOlder = false): Promise<RootVerdict> {
    try {
      const locked = await this.#locked();
      // Two hosts of a fleet may be one machine: a mark of both says so.
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

  /** An operator says that the ledger counts, although the mark says more. */
  trustNext(): void {
    this.#isTrusted = true;
  }

  /** Fingerprint of our mark in the folder, or null. */
  mark(): Promise<string | null> {
    return markOf(this.#path, this.#owner.ledger);
  }

  /** Why a directory inside is another dropcast's, or null. */
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
    // Another file system is at the path now.
    await this[Symbol.asyncDispose]();
    const verdict = await lockFolder(directory);
    if (verdict.is === 'rival') return `another dropcast watches it (process ${verdict.pid}); stop one of the two`;
    if (verdict.is === 'held') this.#lock = { on, lock: verdict.lock };
    return null;
  }

  /** @returns why somebody else has the folder, or null */
  async #marked(wasOlder: boolean): Promise<string | null> {
    for (let turn = 0; turn < mostTurns; turn += 1) {
      const found = await readMark(this.#path);
      const verdict = await judge(this.#path, found, this.#owner);
      // Also of a copy of ours, which may have uploaded files: removing its mark is no answer.
      const isOfLedger = found.is === 'mark' && found.owner.ledger === this.#owner.ledger;
      this.#counter = isOfLedger ? (found.owner.counter ?? 0) : 0;
      if (verdict.is === 'foreign') return verdict.why;
      if (verdict.is === 'ours') {
        this.#isMarked = true;
        this.#lacksRoom = false;
        return null;
      }
      // Another instance took the folder from this one. Taking it back would start a tug-of-war.
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

  /** A mark that says more than the ledger was written by a ledger that knew of more files. */
  async #isOlder(wasOlder: boolean): Promise<boolean> {
    const { ledgerCounter: counter = null, fleet = null } = this.#owner;
    if (counter === null) return false;
    // The hosts of a fleet bring a ledger forward again that lost its last writes.
    if (wasOlder && fleet === null) return true;
    // A ledger that does not answer takes nothing in, so the next look is early enough.
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

  /** @returns false when the folder cannot be marked: then only the lock protects it */
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
      // Somebody else was faster with the mark of one who is gone.
      if (errnoOf(error) === 'ENOENT' && verdict.text !== undefined) return true;
      // Not a reason to stop: on a full disk, sending the files may be what makes room.
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

/** @param isAlone the ledger lies in the state directory of this host */
export function whyBehind(folder: string, isAlone = true): string {
  const what = isAlone ? 'the state directory' : 'the ledger of the fleet';
  const [adopt, resume] = ['adopt', 'resume'].map((name) => operatorCommand(`dropcast ${name} ${shellWord(folder)}`));
  return `${what} is older than this folder: restored from a backup? Files that it does not know may be on the service already. If all files in the folder were uploaded, run \`${adopt}\`; to upload the files that it does not know, run \`${resume}\``;
}

const mayNotWrite: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

const mostTurns = 10;
/** Long enough for another writer of the mark to finish; otherwise the next round waits again. */
const takenMs = 50;

/** What a folder without a mark is not protected from. */
const unprotected = 'nothing keeps a dropcast of another user or machine from uploading the same files';
