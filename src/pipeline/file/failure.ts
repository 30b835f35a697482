import { hasCode, nameOfCode } from '../../errno.ts';
import type { AccountTrouble } from './account-trouble.ts';
import type { Checksum, Digests } from './checksums.ts';
import { LedgerUnavailableError } from './store-errors.ts';

/**
 * Why a step did not succeed, as a value. The kinds are the failure classes of the design (section 8):
 *
 * - `transient`: counted, retried with backoff.
 * - `offline`: the network or the whole service is unreachable; retried, never counted against the file.
 * - `throttled`: request budget exhausted or a 429; not counted.
 * - `suspended`: a problem with the key, account, watch root or disk; everything pauses, nothing is counted.
 * - `address dead`: the upload address answers 401, 403, 404 or 410.
 * - `permanent`: retrying cannot help.
 * - `gone`: the video was deleted on the service.
 * - `duplicate`: the file `twin` has already uploaded the same content.
 * - `vanished`, `changed`: the local file is missing, or is no longer the one that was accepted.
 * - `unclear`: only the operator can find out whether the request succeeded (an import whose answer was lost).
 * - `mismatch`: the local file does not match its sender's checksum, or that checksum cannot be read.
 * - `bug`: thrown by dropcast's own code.
 */
export type FailureKind =
  | 'transient'
  | 'offline'
  | 'throttled'
  | 'suspended'
  | 'address dead'
  | 'permanent'
  | 'gone'
  | 'duplicate'
  | 'vanished'
  | 'changed'
  | 'unclear'
  | 'mismatch'
  | 'bug';

export interface Failure {
  readonly kind: FailureKind;
  /** Machine-readable: the service's error code, an errno name or one of dropcast's own codes. */
  readonly code: string;
  /** One sentence for people. Never contains a secret or a signed address. */
  readonly message: string;
  /** HTTP status, if an answer arrived. */
  readonly status?: number;
  /** Minimum wait in milliseconds, if the other side asked for one. */
  readonly retryAfterMs?: number;
  /** True if the request may have been carried out although no usable answer arrived. */
  readonly inDoubt?: boolean;
  /** The feed that the service does not know. */
  readonly feed?: string;
  /** For a duplicate: the id of the file whose content was uploaded. */
  readonly twin?: string;
  /**
   * For a file that existed before dropcast watched its folder: the videos on the service that it may match. Absent:
   * not compared yet.
   */
  readonly likeness?: Likeness;
  /**
   * Code of the underlying cause. For a file that was sent completely but not confirmed: what prevents another upload.
   * For a file that waits because the service refuses new videos: that refusal.
   */
  readonly because?: string;
  /** Why the service refuses every new video, since when (epoch milliseconds), and of which channel if only of one. */
  readonly account?: { readonly trouble: AccountTrouble; readonly since: number; readonly channel?: string };
  readonly digests?: Digests;
  /** For a file that the operator ignores: the failure that held it before. */
  readonly over?: Failure;
  /** For a file refused or held because of its size: what is known of the limit. */
  readonly sizeLimit?: SizeLimitKnown;
}

/** A limit on the size of files, as a failure records it. */
export interface SizeLimitKnown {
  /** `setting`: `uploads.max_size`. `service`: learned from an upload host's refusal. */
  readonly from: 'setting' | 'service';
  /** Largest size that is sent, in bytes. Null, in a refusal only: the host names no limit. */
  readonly mostBytes: number | null;
  /** When the operator or the daily test let the file through (epoch milliseconds). */
  readonly triedAt?: number;
}

/** Code for 'the file is larger than `uploads.max_size`, or than the upload host accepts'. */
export const tooLargeCode = 'over_size_limit';

/** Code of a file that is sent to find out whether the learned limit still applies. */
export const triedAgainCode = 'size_tried';

/** The part of a failure that a file's history keeps; the message is stored as the note. */
export interface AttemptFailure extends Pick<Failure, 'kind' | 'code'> {
  /** HTTP status, if an answer arrived. */
  readonly status: number | null;
}

export interface HostedVideo {
  readonly id: string;
  readonly title: string;
  /** Seconds; null if the service does not report it. */
  readonly duration: number | null;
  /** The service's own status word. */
  readonly status: string;
}

/** The videos on the service that may be a given local file, by title and duration. */
export interface Likeness {
  /** The first few matching videos. */
  readonly videos: readonly HostedVideo[];
  /** Total number of matching videos; absent if `videos` contains them all. */
  readonly count?: number;
  /**
   * Whether one video is certainly this file: it is ready, has the same title and duration, and no other file claims
   * it.
   */
  readonly isSure: boolean;
  /** Why the match is uncertain, as a sentence; null if it is certain or no video matches. */
  readonly doubt: string | null;
}

/** The failure of a local file that may not be deleted until the service has been asked about its video. */
export const mustAskFirst: Failure = {
  kind: 'throttled',
  code: 'must_ask_first',
  message: 'dropcast checks its video on the service again before it deletes the local file',
};

/**
 * Returns the failure of a file that is held because it does not match its sender's checksum.
 *
 * @param digests all known digests of the file, with which a corrected checksum is compared before anything is sent
 *   again
 */
export function differentFrom({ algorithm, digest: expected, from }: Checksum, digests: Digests): Failure {
  return {
    kind: 'mismatch',
    code: 'checksum_mismatch',
    message:
      `the file differs from its checksum: its ${algorithm.toUpperCase()} is ${digests[algorithm] ?? ''}, but ${from.path} says ${expected}; ` +
      'copy the file again, or correct or remove the checksum: dropcast then continues',
    digests,
  };
}

/** The result of a request that dropcast aborted while shutting down. This is not a failure of the file. */
export const stopped: Failure = { kind: 'throttled', code: 'aborted', message: 'dropcast was stopped' };

/**
 * Code for 'the same content is already being uploaded'. The file waits until the other file is uploaded or has ended.
 */
export const twinCode = 'twin_under_way';

/**
 * Code for 'the whole file was sent, the service does not show it, and the local file no longer has the content that
 * was sent'.
 */
export const unconfirmedCode = 'unconfirmed';

/**
 * Code for 'the PUT was answered with a web page', the same as in the client. Only the service can confirm whether the
 * file arrived.
 */
export const webPageCode = 'web_page';

/** Code for 'an upload host refuses every new upload address'. */
export const refusedAddressesCode = 'addresses_refused';

export const outsideWindowCode = 'upload_window';

/** Code for 'no request was sent, because the service refuses new videos'. */
export const createsRefusedCode = 'creates_refused';

/** Code for 'no request was sent, because `service.quota` is used up'. */
export const ownQuotaCode = 'service_quota';

/** Codes of files that are waiting for a channel or feed that the service does not have. */
export const unknownNameCodes = { channel: 'unknown_channel', feed: 'unknown_feed' } as const;

/**
 * Whether a failure is only a wait. Such failures are omitted from the failure log, and the circuit breaker does not
 * count them.
 */
export function isMereWait({ code }: Failure): boolean {
  return mereWaits.has(code);
}

const mereWaits: ReadonlySet<string> = new Set([
  ...Object.values(unknownNameCodes),
  stopped.code,
  twinCode,
  outsideWindowCode,
  createsRefusedCode,
  ownQuotaCode,
]);

/**
 * Whether a failure may concern a whole host rather than this request alone: no answer, an answer from a proxy, or one
 * in which the host reports that it cannot serve requests. A 409 or 422 concerns only the request.
 */
export function isOfHost({ kind, status, code, inDoubt }: Failure): boolean {
  if (kind === 'offline') return true;
  if (kind !== 'transient') return false;
  if (status === undefined) return inDoubt === true;
  return status >= 500 || status === 408 || status === 429 || isOfMiddlebox.has(code);
}

/** Codes of answers from something between this machine and the host, such as a login portal or a proxy. */
const isOfMiddlebox: ReadonlySet<string> = new Set(['unreadable_answer', webPageCode, 'redirect']);

/** Whether the local file is no longer the one that was accepted. */
export function isAway({ kind }: Failure): boolean {
  return kind === 'vanished' || kind === 'changed';
}

/** Returns the failure for an error thrown where only a bug or an exhausted machine can throw. */
export function failureOfThrown(error: unknown): Failure {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failureOfMachine(error) ?? { kind: 'bug', code: 'bug', message };
}

/** Errno names for a machine that has run out of a resource, or a disk that fails or refuses writes. */
const refusals = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EROFS', 'ENOMEM', 'EIO']);

/**
 * Recognises errors caused by an exhausted machine or a failing disk, here and nowhere else. No file is at fault, and
 * everything waits (design section 8).
 *
 * @returns null for any other error
 */
export function failureOfMachine(error: unknown): Failure | null {
  if (error instanceof LedgerUnavailableError)
    return { kind: 'suspended', code: error.failureCode, message: error.message };
  if (!hasCode(error)) return null;
  const code = nameOfCode(error);
  return refusals.has(code) ? { kind: 'suspended', code, message: error.message } : null;
}
