import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';
import { isRefusal } from '../read-permission.ts';

/** Name of the mark in the root of a watched folder. Hidden, so watchers ignore it. */
export const markName = '.dropcast';

/**
 * The ledger's progress as a number that only grows. A mark stores the value at the last intake. A ledger with a
 * smaller value is an older copy that would upload later files again.
 */
export interface MarkCounter {
  /** Returns the last value known to this process. */
  current(): Promise<number>;
  /** Whether the ledger is behind a mark. */
  isBehind(mark: number): Promise<boolean>;
  /** @returns the new value, larger than the old one and than `atLeast`. Resolves once it is on disk */
  advance(atLeast?: number): Promise<number>;
}

/** A folder's owner, as named in its mark. */
export interface FolderOwner {
  /** Random id of the ledger, shared by its copies. */
  readonly ledger: string;
  /** Absolute path without symbolic links. */
  readonly stateDir: string;
  /** Hash that identifies the machine; null if the machine has no id, as in most containers. */
  readonly host: string | null;
  readonly hostName: string;
  /** Name of the folder in a fleet's rows; absent without a fleet. */
  readonly place?: string;
  /** The ledger's progress at the last intake in this folder; absent if marks have no counter. */
  readonly counter?: number;
}

/** This process as the owner of a folder. */
export interface FolderClaimant extends Omit<FolderOwner, 'place' | 'counter'> {
  /** Null if marks have no counter. */
  readonly ledgerCounter?: MarkCounter | null;
  /** Null if only this host uses the ledger. */
  readonly fleet?: FleetFolders | null;
}

export interface FleetFolders {
  /** Returns the name that a folder of this host has in the fleet's rows. */
  placeOf(folder: string): string;
  /** Returns why the folder is not proven to be the place that its mark names, or null. */
  whyUnproven?(folder: string): string | null;
  watched(): readonly string[];
}

export type FoundMark =
  | { readonly is: 'none' }
  | { readonly is: 'mark'; readonly owner: FolderOwner; readonly text: string }
  /** `isUnread`: the system refused to read the mark. */
  | { readonly is: 'unclear'; readonly why: string; readonly isUnread?: true };

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
 * Marks a folder that has no mark. The file is on disk, complete and readable for everybody, before it gets its name.
 *
 * @returns `taken` if another process was faster
 * @throws the file system error
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
 * Replaces the mark of an owner that is gone. If several processes try, only the holder of a turn file named after the
 * old mark may replace it, and only if the mark is unchanged. The folder is never without a mark.
 *
 * @param text the mark's text as last read
 * @returns `taken` if another process is replacing the mark or has replaced it
 * @throws the file system error
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

/**
 * Age at which a turn file is attributed to a killed process. If two processes find it, one notices later that it lost.
 */
const oldTurnMs = 60_000;

/** @param fresh a newly written file: its modification time is the file system's idea of now */
async function hasTurn(path: string, fresh: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o644)).close();
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  const [held, { mtimeMs: now }] = await Promise.all([lstat(path).catch(() => null), lstat(fresh)]);
  // A turn file that cannot be removed blocks all processes until an operator removes it.
  if (held !== null && Math.abs(now - held.mtimeMs) > oldTurnMs) await rm(path, { force: true }).catch(() => undefined);
  return false;
}

/**
 * Writes the ledger's progress into our mark, in place if possible. The digits have a fixed width, so a crash leaves
 * the old or the new value, and the file keeps the inode by which hosts of a fleet recognise it. Writes nothing if the
 * mark has changed.
 *
 * @param text of the mark as it was judged
 * @param counter from 0, of at most 15 digits
 * @throws the file system error
 */
export async function writeCounter(folder: string, text: string, counter: number): Promise<void> {
  const isWritten = counterAtEnd.test(text) && (await writeInPlace(join(folder, markName), text, counter));
  if (!isWritten) await replaceText(folder, text, withCounter(withoutCounter(text), counter));
}

/** @returns false if only the directory is writable, as for another user's mark */
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
    if (isRefusal(errnoOf(error))) return false;
    throw error;
  }
}

/**
 * Whether a mark is ahead of a ledger. A number that no ledger can reach is damage or an attempt to exhaust the
 * counter, and is ignored.
 */
export function isAhead(mark: number, ledger: number): boolean {
  return mark > ledger && mark - ledger <= mostAhead;
}

/** Largest plausible lead of a mark: 19 years at one step a minute in each of 1,000 folders. */
const mostAhead = 1e10;

const digitsAtMost = 15;

const counterEnd = '"}\n';
const counterAtEnd = /,"counter":"\d{15}"\}\n$/;

/** Returns the part of a mark that identifies it, which excludes the changing counter. */
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

/** Linux PATH_MAX. */
const mostPathCharacters = 4_096;
/** A DNS name has at most 253 characters. */
const mostNameCharacters = 255;

function ownerOf(text: string): FolderOwner | null {
  try {
    const { ledger, stateDir, host, hostName, place, counter } = JSON.parse(text) as Record<keyof FolderOwner, unknown>;
    if (typeof ledger !== 'string' || typeof stateDir !== 'string' || typeof hostName !== 'string') return null;
    // Both values appear in every message about the folder, so overlong ones are rejected.
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

/** Writes a mark under a temporary name. @returns its path, once it is on disk */
async function writeFresh(folder: string, text: string): Promise<string> {
  const path = `${join(folder, markName)}.${randomBytes(6).toString('hex')}`;
  try {
    await using file = await open(path, 'wx', 0o644);
    // Set regardless of the umask, so that another user's dropcast can read the owner.
    await file.chmod(0o644).catch(() => undefined);
    await file.writeFile(text);
    await file.sync();
    return path;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Fallback for file systems without hard links. If two processes rename at once, one notices later that it lost. */
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
  // Some network file systems cannot sync directories.
  await directory.sync().catch(() => undefined);
}

const mostBytes = 16_384;

/**
 * Reads the beginning of an untrusted file, at most 16 KiB. Follows no links and does not block on pipes.
 *
 * @returns null if it is not a regular file
 * @throws the system error
 */
export async function readSmallFile(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mostBytes) });
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    const code = errnoOf(error);
    // The path is a symbolic link or a socket.
    if (code === 'ELOOP' || code === 'ENXIO') return null;
    throw error;
  }
}

/**
 * A file that one host has just written and another looks for. A host that sees the file is looking at the same folder;
 * a copy would have another inode.
 */
export interface RootProof {
  readonly nonce: string;
  readonly inode: string;
}

/** Identifies a particular mark file, as opposed to copies of it. */
export interface MarkFile {
  readonly ledger: string;
  readonly place: string | null;
  readonly fingerprint: string;
}

/** Returns the fingerprint of the mark that a ledger left in a folder, or null. */
export async function markOf(folder: string, ledger: string): Promise<string | null> {
  const found = await readMark(folder);
  if (found.is !== 'mark' || found.owner.ledger !== ledger) return null;
  return hashOf(withoutCounter(found.text)).slice(0, 32);
}

/** @returns null if there is no readable mark */
export async function markFileOf(folder: string): Promise<MarkFile | null> {
  const found = await readMark(folder);
  if (found.is !== 'mark') return null;
  const { ledger, place = null } = found.owner;
  const inode = await inodeOf(join(folder, markName));
  return { ledger, place, fingerprint: hashOf(`${inode} ${withoutCounter(found.text)}`) };
}

/** Writes a proof and replaces any leftover from a crash. @param host the writing host @throws the file system error */
export async function writeProof(folder: string, host: string): Promise<RootProof> {
  const nonce = randomBytes(16).toString('hex');
  // Removed first, so that the write cannot follow a link that another user put there.
  await removeProof(folder, host);
  await writeFile(proofPath(folder, host), nonce, { flag: 'wx', mode: 0o644 });
  return { nonce, inode: (await inodeOf(proofPath(folder, host))) ?? '' };
}

/** Whether this folder contains the proof written by another host. */
export async function seesProof(folder: string, host: string, { nonce, inode }: RootProof): Promise<boolean> {
  const path = proofPath(folder, host);
  const text = await readSmallFile(path).catch(() => null);
  return text === nonce && (await inodeOf(path)) === inode;
}

export async function removeProof(folder: string, host: string): Promise<void> {
  await rm(proofPath(folder, host), { force: true });
}

/** Returns the path of a host's proof. Hidden, so watchers ignore it. */
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
