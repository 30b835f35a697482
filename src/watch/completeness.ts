import { constants, readlinkSync } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { endOf } from '@dropcast/media';
import type { LimitFunction } from 'p-limit';
import { errnoOf } from '../errno.ts';
import { isUntouched, versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { isInnerPath } from '../pipeline/file/inner-path.ts';
import { isRefusal, whyClosed } from '../read-permission.ts';
import type { MonotonicClock } from './clock.ts';
import { markerWord, graceMs, requiredMs } from './waiting-file.ts';
import type { MarkedFolder, WaitingFile } from './waiting-file.ts';
import type { OpenWriters } from './open-writers.ts';
import { isTakenIn } from './ports.ts';

/**
 * Verdict: check again after `forMs`. `why` is a human-readable reason; `null` if the file only has to stay unchanged.
 */
export interface Wait {
  readonly is: 'wait';
  readonly forMs: number;
  readonly why: string | null;
}

/** Verdict: the file is complete. A `flaw` puts the file on hold; a `doubt` is only logged. */
export interface Complete {
  readonly is: 'complete';
  readonly flaw: string | null;
  readonly isUnreadable: boolean;
  readonly doubt: string | null;
}

type Verdict = Wait | Complete;

interface JudgeOptions {
  readonly folder: MarkedFolder & { readonly settleMs: number };
  readonly clock: MonotonicClock;
  readonly writers: OpenWriters;
  readonly limit: LimitFunction;
  readonly isRootSound: () => Promise<boolean>;
}

export type Judge = (file: WaitingFile, unchangedMs: number) => Promise<Verdict>;

/**
 * Creates the judge that decides whether a file is complete. A complete file has stayed unchanged for its settle time
 * (or has a done marker), is not being written by any process, and has an intact container. The judge never rejects.
 */
export function createJudge({ folder, clock, writers, limit, isRootSound }: JudgeOptions): Judge {
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
    const marker = await markerWord(folder, file);
    file.lacksMarker = marker === 'missing';
    if (marker === 'missing') return wait(SLOW_RECHECK_MS, `waiting for ${basename(folder.markerOf(file.path) ?? '')}`);
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
    if (proof !== null)
      return wait(PART_RECHECK_MS, `part of a download: ${JSON.stringify(proof)} is still being written`);
    const check = await limit(() => checkBytes(folder.path, file.path, file.version, file.kind === 'media'));
    if (check.is === 'moved') return wait(0, null);
    const isUnreadable = check.is === 'unreadable';
    // Unreadable sidecars and checksums keep waiting here. The intake of their video rereads them, and holds the video
    // if that fails.
    if (isUnreadable && !(check.isRefused && isTakenIn(file.kind))) return wait(SLOW_RECHECK_MS, check.why);
    const isEmpty = file.version.size === 0 && file.kind !== 'proof';
    const flaw = isUnreadable ? check.why : isEmpty ? emptyFlaw : check.is === 'flawed' ? check.flaw : null;
    const doubt = check.is === 'doubtful' ? check.doubt : null;
    const leftMs = quietMs(check, flaw, folder.settleMs) - unchangedMs;
    return leftMs > 0 ? wait(leftMs, flaw ?? doubt) : { is: 'complete', flaw, isUnreadable, doubt };
  };
}

function quietMs(check: BytesCheck, flaw: string | null, settleMs: number): number {
  if (check.is === 'unreadable') return UNREADABLE_MS;
  if (flaw !== null) return graceMs(settleMs);
  return check.is === 'doubtful' ? check.passesAfterMs : 0;
}

export function wait(forMs: number, why: string | null): Wait {
  return { is: 'wait', forMs, why };
}

export const emptyFlaw = 'the file is empty';

/** Recheck interval for changes that cause no event: a returning folder, a changed mode, a recovered sink. */
export const SLOW_RECHECK_MS = 30_000;
/**
 * Delay before reporting an unreadable path: writers may grant access only once they have finished. The operator is
 * still notified within a minute.
 */
export const UNREADABLE_MS = 30_000;
/**
 * Recheck interval for a partial download. Downloaders delete or rename parts within seconds of writing the last file.
 */
const PART_RECHECK_MS = 5_000;
const FIRST_VETO_RECHECK_MS = 1000;
const LAST_VETO_RECHECK_MS = 5000;
/**
 * Longest veto by an open descriptor. A writer that has written nothing for six hours has probably forgotten to close
 * the file.
 */
const LONGEST_VETO_MS = 6 * 3_600_000;
/**
 * Wait for a file that plays but lacks its padding or less than a packet at its end. Network copies rarely stall for
 * longer, and copying such a file again would not improve it.
 */
const QUIET_MS = 5 * 60_000;

/**
 * Result of checking a file's bytes. `moved`: the file was replaced; check again. `doubtful`: accepted after a while.
 */
type BytesCheck =
  | { readonly is: 'sound' | 'moved' }
  | { readonly is: 'flawed'; readonly flaw: string }
  | { readonly is: 'doubtful'; readonly doubt: string; readonly passesAfterMs: number }
  /** `isRefused`: dropcast lacks a permission that only a person can grant. */
  | { readonly is: 'unreadable'; readonly why: string; readonly isRefused: boolean };

/**
 * Opens the file as the upload will (never through a link, never blocking on a pipe), verifies that it is the same file
 * and lies inside the folder, and checks its container. Never throws.
 *
 * @param folder absolute path of the watched folder, which may itself be a link
 * @param isMedia false skips the container check
 */
export async function checkBytes(
  folder: string,
  path: string,
  version: FileVersion,
  isMedia: boolean,
): Promise<BytesCheck> {
  // Paths from ledger rows are checked too, and may lead outside the folder.
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
    // The file is gone, stale or a link; the next check finds out which.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE'].includes(code)) return { is: 'moved' };
    if (!isRefusal(code)) return unreadable(`it cannot be read (${code})`);
    return unreadable(await whyClosed(join(folder, path), 'file', code), true);
  }
}

function unreadable(why: string, isRefused = false): BytesCheck {
  return { is: 'unreadable', why, isRefused };
}

const READ_WITHOUT_FOLLOWING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Whether the file was opened without following a link. Reads only kernel memory, which cannot hang on a dead share.
 */
function isOpenAt(fd: number, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === path;
  } catch {
    return false;
  }
}

/** Whether the path lies inside the folder: a directory may have been replaced by a link since the scan. */
async function isInside(folder: string, path: string): Promise<boolean> {
  const [root, parent] = await Promise.all([realpath(folder), realpath(dirname(join(folder, path)))]);
  return parent === dirname(join(root, path));
}

/**
 * Distinguishes partial downloads from videos. yt-dlp fetches `clip.f137.mp4` and `clip.f140.m4a` one after the other
 * and then merges them, so a finished part may sit unchanged for minutes. The name alone proves nothing, because
 * `race.f1.mp4` is a video; another file of the same download must still be in progress. Source: yt-dlp, `YoutubeDL.py`
 * (`prepend_extension` with `f` and the format).
 */
class DownloadParts {
  readonly #folder: string;
  readonly #clock: MonotonicClock;
  /** The last directory listing, kept because the parts in a directory are checked one after another. */
  #listed: { readonly directory: string; readonly atMs: number; readonly names: Promise<readonly string[]> } | null =
    null;

  constructor(folder: string, clock: MonotonicClock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** @returns the file that proves that `path` is part of an unfinished download, or null */
  async proofFor(path: string): Promise<string | null> {
    const stem = stemOf(basename(path));
    if (stem === null) return null;
    const names = await this.#list(dirname(join(this.#folder, path)));
    return names.find((name) => name.startsWith(`${stem}.`) && STILL_WRITTEN.test(name)) ?? null;
  }

  #list(directory: string): Promise<readonly string[]> {
    const now = this.#clock.elapsed();
    if (this.#listed?.directory !== directory || now - this.#listed.atMs > LISTING_LASTS_MS)
      this.#listed = { directory, atMs: now, names: readdir(directory).catch(() => []) };
    return this.#listed.names;
  }
}

function stemOf(name: string): string | null {
  return /^(?<stem>.+)\.f[^.]+\.[^.]+$/su.exec(name)?.groups?.['stem'] ?? null;
}

const STILL_WRITTEN = /\.(?:part|ytdl|part-Frag\d+|temp\.[^.]+)$/iu;
const LISTING_LASTS_MS = 1_000;
