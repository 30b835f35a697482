import { constants, readlinkSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { endOf } from '@dropcast/media';
import type { LimitFunction } from 'p-limit';
import { isUntouched, versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { isInnerPath } from '../pipeline/file/inner-path.ts';
import { isRefusal, whyClosed } from '../read-permission.ts';
import type { MonotonicClock } from './clock.ts';
import type { DoneMarkers } from './done-markers.ts';
import { DownloadParts } from './download-parts.ts';
import type { OpenWriters } from './open-writers.ts';
import { errnoOf } from '../errno.ts';
import type { FileKind } from './ports.ts';
import { graceMs, requiredMs } from './waiting-file.ts';
import type { WaitingFile } from './waiting-file.ts';

/** Look again after `forMs`; `why` is for a person, `null` when nothing but staying unchanged is missing. */
export interface Wait {
  readonly is: 'wait';
  readonly forMs: number;
  readonly why: string | null;
}

/** `flaw` holds the file; a `doubt` is worth a line in the log. */
export interface Complete {
  readonly is: 'complete';
  readonly flaw: string | null;
  /** The flaw is that dropcast may not read the file. */
  readonly isUnreadable: boolean;
  readonly doubt: string | null;
}

export type Verdict = Wait | Complete;

export interface JudgeOptions {
  readonly folder: { readonly path: string; readonly settleMs: number };
  readonly clock: MonotonicClock;
  readonly writers: OpenWriters;
  readonly markers: DoneMarkers;
  /** Bounds the looks at the disk. */
  readonly limit: LimitFunction;
  /** Whether the folder can be trusted now. */
  readonly isRootSound: () => Promise<boolean>;
}

export type Judge = (file: WaitingFile, unchangedMs: number) => Promise<Verdict>;

/**
 * Decides whether a file is complete: it stayed unchanged for its settle time or its sender says so, nobody is writing to it, and its
 * container does not contradict. Never rejects.
 */
export function createJudge({ folder, clock, writers, markers, limit, isRootSound }: JudgeOptions): Judge {
  const parts = new DownloadParts(folder.path, clock);
  const veto = async (file: WaitingFile, unchangedMs: number): Promise<Wait | null> => {
    const now = clock.elapsed();
    if (file.vetoedSinceMs !== null && now - file.vetoedSinceMs > LONGEST_VETO_MS) return null;
    const writer = await writers.of(file.version, unchangedMs);
    if (writer === null) {
      file.vetoedSinceMs = null;
      return null;
    }
    file.vetoedSinceMs ??= now;
    const recheckMs = Math.min(Math.max((now - file.vetoedSinceMs) / 10, FIRST_VETO_RECHECK_MS), LAST_VETO_RECHECK_MS);
    return wait(recheckMs, `open for writing by process ${writer.pid} (${writer.command})`);
  };

  const unmarked = async (file: WaitingFile, unchangedMs: number): Promise<Wait | null> => {
    const marker = await markers.of(file);
    file.lacksMarker = marker === 'missing';
    if (marker === 'missing') return wait(SLOW_RECHECK_MS, `waiting for ${markers.nameFor(file)}`);
    const leftMs = marker === 'proves it' ? 0 : requiredMs(file, folder.settleMs) - unchangedMs;
    return leftMs > 0 ? wait(leftMs, null) : null;
  };

  return async (file, unchangedMs) => {
    if (!(await isRootSound())) return wait(SLOW_RECHECK_MS, 'the folder is not available');
    const awaited = await unmarked(file, unchangedMs);
    if (awaited !== null) return awaited;
    const vetoed = await veto(file, unchangedMs);
    if (vetoed !== null) return vetoed;
    const proof = await limit(() => parts.proofFor(file.path));
    if (proof !== null) return wait(PART_RECHECK_MS, `part of a download: ${JSON.stringify(proof)} is still written`);
    const check = await limit(() => checkBytes(folder.path, file.path, file.version, file.kind === 'media'));
    if (check.is === 'moved') return wait(0, null);
    const isUnreadable = check.is === 'unreadable';
    // A sidecar or checksum is read again when its video is taken in, and then holds the video.
    if (isUnreadable && !(check.isRefused && isTakenIn(file.kind))) return wait(SLOW_RECHECK_MS, check.why);
    const isEmpty = file.version.size === 0 && file.kind !== 'proof';
    const flaw = isUnreadable ? check.why : isEmpty ? emptyFlaw : check.is === 'flawed' ? check.flaw : null;
    const doubt = check.is === 'doubtful' ? check.doubt : null;
    const leftMs = quietMs(check, flaw, folder.settleMs) - unchangedMs;
    return leftMs > 0 ? wait(leftMs, flaw ?? doubt) : { is: 'complete', flaw, isUnreadable, doubt };
  };
}

/** How long a file has to stay unchanged for what its bytes say, in milliseconds. */
function quietMs(check: BytesCheck, flaw: string | null, settleMs: number): number {
  if (check.is === 'unreadable') return UNREADABLE_MS;
  if (flaw !== null) return graceMs(settleMs);
  return check.is === 'doubtful' ? check.passesAfterMs : 0;
}

/** Whether a file of this kind gets a row. */
export function isTakenIn(kind: FileKind | null): boolean {
  return kind === 'media' || kind === 'link';
}

/** A verdict. @param forMs milliseconds until the next look @param why see `Wait` */
export function wait(forMs: number, why: string | null): Wait {
  return { is: 'wait', forMs, why };
}

/** What is wrong with a file of no bytes. */
export const emptyFlaw = 'the file is empty';

/** For what no event announces: the folder comes back, a mode changes, the sink recovers. */
export const SLOW_RECHECK_MS = 30_000;
/** A writer may open its file for others only when it has finished; a person hears of it within a minute. */
export const UNREADABLE_MS = 30_000;
/** A part is deleted or renamed seconds after the last file of its download was written. */
const PART_RECHECK_MS = 5_000;
const FIRST_VETO_RECHECK_MS = 1000;
const LAST_VETO_RECHECK_MS = 5000;
/** A writer that keeps a file open for six hours without writing a byte has forgotten it. */
const LONGEST_VETO_MS = 6 * 3_600_000;
/**
 * For a file that plays but lacks less than a packet at its end, or padding. A copy over a network that stalls for longer is rare, and no
 * second copy of such a file would be any better.
 */
const QUIET_MS = 5 * 60_000;

/** What the bytes of an unchanged file say. `moved`: it is not the file we saw any more, look again. `doubtful` passes after a quiet time. */
export type BytesCheck =
  | { readonly is: 'sound' | 'moved' }
  | { readonly is: 'flawed'; readonly flaw: string }
  | { readonly is: 'doubtful'; readonly doubt: string; readonly passesAfterMs: number }
  /** `isRefused`: for want of a right, so that it stays so until a person grants it. */
  | { readonly is: 'unreadable'; readonly why: string; readonly isRefused: boolean };

/**
 * Opens the file as the upload will (never through a link, never blocking on a pipe), makes sure that it is the file we saw and lies
 * inside the folder, and asks its container. Never throws.
 *
 * @param folder absolute path of the watched folder, which may itself be a link
 * @param isMedia false skips the container
 */
export async function checkBytes(
  folder: string,
  path: string,
  version: FileVersion,
  isMedia: boolean,
): Promise<BytesCheck> {
  // The watcher also looks again at what rows name.
  if (!isInnerPath(path)) return unreadable('its path leads out of the folder');
  try {
    await using file = await open(join(folder, path), READ_WITHOUT_FOLLOWING);
    if (!isOpenAt(file.fd, join(folder, path)) && !(await isInside(folder, path)))
      return unreadable('a directory above it is a symbolic link');
    if (!isUntouched(version, versionOf(await file.stat({ bigint: true })))) return { is: 'moved' };
    if (!isMedia) return { is: 'sound' };
    const readAt = async (position: number, length: number): Promise<Buffer> => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    };
    const { flaw } = await endOf(readAt, version.size);
    if (flaw === null) return { is: 'sound' };
    if (flaw.is === 'hint') return { is: 'doubtful', doubt: flaw.why, passesAfterMs: 0 };
    if (flaw.is === 'small') return { is: 'doubtful', doubt: flaw.why, passesAfterMs: QUIET_MS };
    return { is: 'flawed', flaw: flaw.why };
  } catch (error) {
    const code = errnoOf(error);
    // The file is gone, stale or a link now: the next look finds out.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE'].includes(code)) return { is: 'moved' };
    if (!isRefusal(code)) return unreadable(`it cannot be read (${code})`);
    return unreadable(await whyClosed(join(folder, path), 'file', code), true);
  }
}

function unreadable(why: string, isRefused = false): BytesCheck {
  return { is: 'unreadable', why, isRefused };
}

const READ_WITHOUT_FOLLOWING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether it was reached through no link. Asks the kernel's memory, which cannot hang on a dead share. */
function isOpenAt(fd: number, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === path;
  } catch {
    return false;
  }
}

/** Somebody may have replaced a directory by a link since the scan walked through it. */
async function isInside(folder: string, path: string): Promise<boolean> {
  const [root, parent] = await Promise.all([realpath(folder), realpath(dirname(join(folder, path)))]);
  return parent === dirname(join(root, path));
}
