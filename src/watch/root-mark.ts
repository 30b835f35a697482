import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';

/** The name of the mark in the root of a watched folder. Hidden, so no watcher takes it for a video. */
export const markName = '.dropcast';

/**
 * The progress of the ledger, as a number that only grows. A mark keeps the value of the last intake: a ledger with a
 * smaller one is an older copy, and would upload those files again.
 */
export interface MarkCounter {
  /** As this process knows it. */
  current(): Promise<number>;
  /** Whether the ledger is behind a mark. */
  isBehind(mark: number): Promise<boolean>;
  /** @returns the new value, larger than the old one and than `atLeast`. On disk when it resolves */
  advance(atLeast?: number): Promise<number>;
}

/** The owner of a folder, as its mark names it. */
export interface FolderOwner {
  /** The random id of the ledger. Copies of the ledger share it. */
  readonly ledger: string;
  /** Absolute, without symbolic links. */
  readonly stateDir: string;
  /** Identifies the machine; null if the machine has no id, as in most containers. */
  readonly host: string | null;
  /** For a person. */
  readonly hostName: string;
  /** The name of the folder in the rows of a fleet; absent without a fleet. */
  readonly place?: string;
  /** The progress of the ledger at the last intake in the folder; absent if marks have no counter. */
  readonly counter?: number;
}

/** This process, as the owner of a folder. */
export interface FolderClaimant extends Omit<FolderOwner, 'place' | 'counter'> {
  /** Null: the marks have no counter. */
  readonly ledgerCounter?: MarkCounter | null;
  /** Null: only this host uses the ledger. */
  readonly fleet?: FleetFolders | null;
}

export interface FleetFolders {
  /** The name in the rows of the fleet of a folder of this host. */
  placeOf(folder: string): string;
  /** Why the folder is not proven to be the place that its mark names, or null. */
  whyUnproven?(folder: string): string | null;
  /** The places of all folders that this host watches. */
  watched(): readonly string[];
}

export type FoundMark =
  | { readonly is: 'none' }
  | { readonly is: 'mark'; readonly owner: FolderOwner; readonly text: string }
  /** `isUnread`: the system refused to read it. */
  | { readonly is: 'unclear'; readonly why: string; readonly isUnread?: true };

/** Reads the mark of a folder, a small regular file. */
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
 * Marks a folder that has no mark. The mark is on disk, whole and readable for everybody, before it has its name.
 *
 * @returns `taken` when another process was faster
 * @throws the error of the file system
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
 * Replaces the mark of an owner that is gone. Of several processes that saw it, only the holder of a turn file named
 * after that mark may replace it, and only if the mark is unchanged. The folder is never without a mark.
 *
 * @param text of the mark as it was judged
 * @returns `taken` when another process replaces it, or did
 * @throws the error of the file system
 */
export async function replaceMark(folder: string, text: string, owner: FolderOwner): Promise<'placed' | 'taken'> {
  return replaceText(folder, text, textOf(owner));
}

async function replaceText(folder: string, text: string, by: string): Promise<'placed' | 'taken'> {
  const path = join(folder, markName);
  const turn = `${path}.${hashOf(text).slice(0, 12)}`;
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

/** A turn file this old belongs to a killed process. Of two that find it, one notices later that it lost. */
const oldTurnMs = 60_000;

/** @param fresh a file that was just written: the clock of its file system may differ from ours */
async function hasTurn(path: string, fresh: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o644)).close();
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  const [held, { mtimeMs: now }] = await Promise.all([lstat(path).catch(() => null), lstat(fresh)]);
  // An entry that cannot be removed blocks all processes until an operator removes it.
  if (held !== null && Math.abs(now - held.mtimeMs) > oldTurnMs) await rm(path, { force: true }).catch(() => undefined);
  return false;
}

/**
 * Writes the progress of the ledger into our mark. In place if possible: the digits have a fixed width, so a crash
 * leaves the old or the new ones, and the file keeps its inode, by which hosts of a fleet recognise it. Nothing is
 * written if the mark has changed.
 *
 * @param text of the mark as it was judged
 * @param counter from 0, of at most 15 digits
 * @throws the error of the file system
 */
export async function writeCounter(folder: string, text: string, counter: number): Promise<void> {
  const isWritten = counterAtEnd.test(text) && (await writeInPlace(join(folder, markName), text, counter));
  if (!isWritten) await replaceText(folder, text, withCounter(withoutCounter(text), counter));
}

/** @returns false when only the directory is writable, as with the mark of another user */
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
 * Whether a mark is ahead of a ledger. A number that no ledger can reach is damage, or an attempt to exhaust the
 * counter: it counts as none.
 */
export function isAhead(mark: number, ledger: number): boolean {
  return mark > ledger && mark - ledger <= mostAhead;
}

/** At one a minute for each of 1,000 folders: 19 years. */
const mostAhead = 1e10;

const digitsAtMost = 15;

const counterEnd = '"}\n';
const counterAtEnd = /,"counter":"\d{15}"\}\n$/;

/** The part of a mark that identifies it: the counter changes. */
function withoutCounter(text: string): string {
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
    // Every message about the folder contains both.
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

/** @returns the path of a durable mark that does not have its name yet */
async function writeFresh(folder: string, text: string): Promise<string> {
  const path = `${join(folder, markName)}.${randomBytes(6).toString('hex')}`;
  try {
    await using file = await open(path, 'wx', 0o644);
    // Regardless of the umask: a dropcast of another user must be able to read the owner.
    await file.chmod(0o644).catch(() => undefined);
    await file.writeFile(text);
    await file.sync();
    return path;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** For file systems without hard links. Of two processes that rename at once, one notices later that it lost. */
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
  // Some network file systems do not support it.
  await directory.sync().catch(() => undefined);
}

const mostBytes = 16_384;

/**
 * Reads the beginning of an untrusted file: follows no link, waits for no pipe, and reads at most 16 KiB.
 *
 * @returns null when it is not a regular file
 * @throws the error of the system
 */
export async function readSmallFile(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mostBytes) });
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    const code = errnoOf(error);
    // A link, a socket.
    if (code === 'ELOOP' || code === 'ENXIO') return null;
    throw error;
  }
}

/**
 * A file that one host has just written and another looks for: a host that sees it has the same folder. A copy of the
 * file has another inode.
 */
export interface RootProof {
  readonly nonce: string;
  readonly inode: string;
}

/** Identifies the file of a mark, as opposed to its copies. */
export interface MarkFile {
  readonly ledger: string;
  readonly place: string | null;
  readonly fingerprint: string;
}

/** Fingerprint of the mark that a ledger left in a folder, or null. */
export async function markOf(folder: string, ledger: string): Promise<string | null> {
  const found = await readMark(folder);
  if (found.is !== 'mark' || found.owner.ledger !== ledger) return null;
  return hashOf(withoutCounter(found.text)).slice(0, 32);
}

/** @returns null when there is no readable mark */
export async function markFileOf(folder: string): Promise<MarkFile | null> {
  const found = await readMark(folder);
  if (found.is !== 'mark') return null;
  const { ledger, place = null } = found.owner;
  const inode = await inodeOf(join(folder, markName));
  return { ledger, place, fingerprint: hashOf(`${inode} ${withoutCounter(found.text)}`) };
}

/** @param host the writer: the leftover of a crash is replaced @throws the error of the file system */
export async function writeProof(folder: string, host: string): Promise<RootProof> {
  const nonce = randomBytes(16).toString('hex');
  // Writing must not follow a link that another user put there.
  await removeProof(folder, host);
  await writeFile(proofPath(folder, host), nonce, { flag: 'wx', mode: 0o644 });
  return { nonce, inode: (await inodeOf(proofPath(folder, host))) ?? '' };
}

/** Whether the proof of another host is in this folder. */
export async function seesProof(folder: string, host: string, { nonce, inode }: RootProof): Promise<boolean> {
  const path = proofPath(folder, host);
  const text = await readSmallFile(path).catch(() => null);
  return text === nonce && (await inodeOf(path)) === inode;
}

export async function removeProof(folder: string, host: string): Promise<void> {
  await rm(proofPath(folder, host), { force: true });
}

/** Hidden, so no watcher takes it for a video. */
function proofPath(folder: string, host: string): string {
  return join(folder, `${markName}.proof-${hashOf(host).slice(0, 12)}`);
}

async function inodeOf(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(
    ({ ino }) => String(ino),
    () => null,
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
