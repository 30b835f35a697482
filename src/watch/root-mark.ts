import { constants } from 'node:fs';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createHash, randomBytes } from 'node:crypto';
import { errnoOf } from '../errno.ts';
import { readSmallFile } from './small-file.ts';

/** The name of the mark in the root of a watched folder. Hidden, so no watcher takes it for a video. */
export const markName = '.dropcast';

/**
 * How far the ledger is, as a number that only grows. A mark has what it was when files were last taken in: a ledger that has less is an older
 * copy, and would upload those files again.
 */
export interface MarkCounter {
  /** As this process knows it. */
  current(): Promise<number>;
  /** Whether a mark says more than the ledger. */
  isBehind(mark: number): Promise<boolean>;
  /** @returns the new value: more than it was, and more than `atLeast`. On disk when it resolves */
  advance(atLeast?: number): Promise<number>;
}

/** Whose folder it is. */
export interface FolderOwner {
  /** The random id of the ledger, which its copies share. */
  readonly ledger: string;
  /** Absolute, without symbolic links. */
  readonly stateDir: string;
  /** Tells machines apart; null where the machine has no id, as in most containers. */
  readonly host: string | null;
  /** For a person. */
  readonly hostName: string;
  /** What the rows of a fleet call the folder, where its ledger is one of several hosts. */
  readonly place?: string;
  /** How far the ledger was when files of the folder were last taken in; absent where marks have no counter. */
  readonly counter?: number;
}

/** Who watches a folder: this process. */
export interface FolderClaimant extends Omit<FolderOwner, 'place' | 'counter'> {
  /** Null: the marks have no counter. */
  readonly ledgerCounter?: MarkCounter | null;
  /** Null: the ledger is of this host alone. */
  readonly fleet?: FleetFolders | null;
}

export interface FleetFolders {
  /** What the rows of the fleet call a folder of this host. */
  placeOf(folder: string): string;
  /** Why a folder is not known to be the place that its mark names, or null. */
  whyUnproven?(folder: string): string | null;
  /** The places of all folders that this host watches. */
  watched(): readonly string[];
}

export type FoundMark =
  | { readonly is: 'none' }
  | { readonly is: 'mark'; readonly owner: FolderOwner; readonly text: string }
  /** `isUnread`: the system refused to read it, so that nothing is known about it. */
  | { readonly is: 'unclear'; readonly why: string; readonly isUnread?: true };

/** Reads the mark of a folder. A mark is a small regular file. */
export async function readMark(folder: string): Promise<FoundMark> {
  try {
    const text = await readSmallFile(join(folder, markName));
    const owner = text === null ? null : ownerOf(text);
    return text === null || owner === null ? notAMark : { is: 'mark', owner, text };
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { is: 'none' };
    return { is: 'unclear', why: `it cannot be read (${code})`, isUnread: true };
  }
}

const notAMark: FoundMark = { is: 'unclear', why: 'it is not a mark of dropcast' };

/**
 * Marks a folder, if nobody else has. The mark is on disk, whole and readable for everybody, before it has its name.
 *
 * @returns `taken` when somebody was faster
 * @throws what the file system refuses
 */
export async function placeMark(folder: string, owner: FolderOwner): Promise<'placed' | 'taken'> {
  const fresh = await writeFresh(folder, textOf(owner));
  try {
    await link(fresh, join(folder, markName)).catch((error: unknown) => renameInstead(error, fresh, folder));
    await syncDirectory(folder);
    return 'placed';
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return 'taken';
    throw error;
  } finally {
    await rm(fresh, { force: true });
  }
}

/**
 * Puts our mark in the place of one whose owner is gone. Of several who saw that mark, one does so: whoever holds a file that is named
 * after it, and still finds it. The folder is never without a mark.
 *
 * @param text of the mark as it was judged
 * @returns `taken` when somebody else is at it, or was
 * @throws what the file system refuses
 */
export async function replaceMark(folder: string, text: string, owner: FolderOwner): Promise<'placed' | 'taken'> {
  return replaceText(folder, text, textOf(owner));
}

async function replaceText(folder: string, text: string, by: string): Promise<'placed' | 'taken'> {
  const path = join(folder, markName);
  const turn = `${path}.${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
  const fresh = await writeFresh(folder, by);
  let isOurTurn = false;
  try {
    isOurTurn = await hasTurn(turn, fresh);
    if (!isOurTurn) return 'taken';
    if ((await readSmallFile(path)) !== text) return 'taken';
    await rename(fresh, path);
    await syncDirectory(folder);
    return 'placed';
  } finally {
    await rm(fresh, { force: true });
    if (isOurTurn) await rm(turn, { force: true });
  }
}

/** One that is so old is of a process that was killed. Two may find so at once: then one of them sees at the next look who won. */
const oldTurnMs = 60_000;

/** @param fresh a file that was written just now: its file system may have another clock than this machine */
async function hasTurn(path: string, fresh: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o644)).close();
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  const [held, { mtimeMs: now }] = await Promise.all([lstat(path).catch(() => null), lstat(fresh)]);
  // What is no file of ours, or may not be removed, keeps everybody off until a person removes it.
  if (held !== null && Math.abs(now - held.mtimeMs) > oldTurnMs) await rm(path, { force: true }).catch(() => undefined);
  return false;
}

/**
 * Writes into a mark of ours how far the ledger is. In place, where that is possible: the digits have a fixed width, so that a crash leaves the
 * old or the new ones, and the file keeps its number, by which hosts of a fleet recognise it. Nothing is written if the mark is another by now.
 *
 * @param text of the mark as it was judged
 * @param counter from 0, of at most 15 digits
 * @throws what the file system refuses
 */
export async function writeCounter(folder: string, text: string, counter: number): Promise<void> {
  const isWritten = counterAtEnd.test(text) && (await writeInPlace(join(folder, markName), text, counter));
  if (!isWritten) await replaceText(folder, text, withCounter(withoutCounter(text), counter));
}

/** @returns false when only the directory may be written, as with the mark of another user */
async function writeInPlace(path: string, text: string, counter: number): Promise<boolean> {
  try {
    await using file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return true;
    const expected = Buffer.from(text);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(expected.length + 1) });
    if (!buffer.subarray(0, bytesRead).equals(expected)) return true;
    const digits = digitsOf(counter);
    await file.write(digits, expected.length - counterEnd.length - digits.length);
    await file.sync();
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EACCES' || code === 'EPERM') return false;
    throw error;
  }
}

/**
 * Whether a mark says more than a ledger. A number that is so far ahead that no ledger reaches it is damage, or was written by someone who
 * wants to use up the numbers: it counts as none.
 */
export function isAhead(mark: number, ledger: number): boolean {
  return mark > ledger && mark - ledger <= mostAhead;
}

/** One a minute for each of 1,000 folders takes 19 years. */
const mostAhead = 1e10;

const digitsAtMost = 15;

const counterEnd = '"}\n';
const counterAtEnd = /,"counter":"\d{15}"\}\n$/;

/** What tells a mark from every other: its counter changes. */
export function withoutCounter(text: string): string {
  return text.replace(counterAtEnd, '}\n');
}

function withCounter(text: string, counter: number): string {
  return text.replace(/\}\s*$/, `,"counter":"${digitsOf(counter)}${counterEnd}`);
}

function digitsOf(counter: number): string {
  const digits = String(counter).padStart(digitsAtMost, '0');
  if (digits.length > digitsAtMost)
    throw new RangeError(`the counter of a mark has ${digitsAtMost} digits, not ${digits}`);
  return digits;
}

function textOf({ counter, ...owner }: FolderOwner): string {
  const text = `${JSON.stringify({ v: 1, ...owner, since: new Date().toISOString() })}\n`;
  return counter === undefined ? text : withCounter(text, counter);
}

/** PATH_MAX of Linux. */
const mostPathCharacters = 4_096;
/** A name of DNS has 253. */
const mostNameCharacters = 255;

function ownerOf(text: string): FolderOwner | null {
  try {
    const { ledger, stateDir, host, hostName, place, counter } = JSON.parse(text) as Record<keyof FolderOwner, unknown>;
    if (typeof ledger !== 'string' || typeof stateDir !== 'string' || typeof hostName !== 'string') return null;
    // Both are in every message about the folder.
    if (stateDir.length > mostPathCharacters || hostName.length > mostNameCharacters) return null;
    return {
      ledger,
      stateDir,
      host: typeof host === 'string' ? host : null,
      hostName,
      ...(typeof place === 'string' && { place }),
      ...(typeof counter === 'string' && /^\d{15}$/.test(counter) && { counter: Number(counter) }),
    };
  } catch {
    return null;
  }
}

/** @returns the path of a mark that is durable and has no name yet */
async function writeFresh(folder: string, text: string): Promise<string> {
  const path = `${join(folder, markName)}.${randomBytes(6).toString('hex')}`;
  try {
    await using file = await open(path, 'wx', 0o644);
    // Whatever the umask: a dropcast of another user must be able to read whose folder it is.
    await file.chmod(0o644).catch(() => undefined);
    await file.writeFile(text);
    await file.sync();
    return path;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Where a file cannot have two names (FAT, some shares). Who looks and renames at the same moment sees at the next look who won. */
async function renameInstead(refusal: unknown, fresh: string, folder: string): Promise<void> {
  if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(errnoOf(refusal))) throw refusal;
  const path = join(folder, markName);
  const isFree = await lstat(path).then(
    () => false,
    (missing: unknown) => errnoOf(missing) === 'ENOENT',
  );
  if (!isFree) throw Object.assign(new Error(`${path} exists`), { code: 'EEXIST' });
  await rename(fresh, path);
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  // Some network file systems cannot.
  await directory.sync().catch(() => undefined);
}
