import { hasCode, nameOfCode } from '../../errno.ts';
import type { Checksum, Digests } from './checksums.ts';
import { LedgerUnavailableError } from './store-errors.ts';

/**
 * Why a step did not succeed, as a value. The kinds are the failure classes of the design (section 8):
 *
 * - `transient`: counted, retried with backoff.
 * - `offline`: the network or the whole service is away; retried, never counted against the file.
 * - `throttled`: the budget or a 429; not counted.
 * - `suspended`: key, account, watch root or disk; everything pauses, nothing is counted.
 * - `address dead`: the upload address answers 401, 403, 404 or 410.
 * - `permanent`: asking again cannot help.
 * - `gone`: the service no longer has the video, because it was deleted there.
 * - `duplicate`: the file `twin` has uploaded the same content before.
 * - `vanished`, `changed`: the local file is missing, or is no longer the one that was accepted.
 * - `unclear`: only the operator can find out whether it happened (an import whose answer was lost).
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
  /** Machine-readable: the service's error code, an errno name, or a code of dropcast. */
  readonly code: string;
  /** One sentence for a person. Never holds a secret or a signed address. */
  readonly message: string;
  /** HTTP status, if an answer came. */
  readonly status?: number;
  /** The least wait in milliseconds, if the other side asked for one. */
  readonly retryAfterMs?: number;
  /** True when the request may have been carried out although no usable answer came. */
  readonly inDoubt?: boolean;
  /** The feed that the service does not have. */
  readonly feed?: string;
  /** For a duplicate: the id of the file that was uploaded with the same content. */
  readonly twin?: string;
  /**
   * For a file that existed before dropcast watched its folder: the videos of the service that it may be. Absent: not
   * compared yet.
   */
  readonly likeness?: Likeness;
  /** For a file that was sent completely and is not confirmed: the code of what prevents another upload. */
  readonly because?: string;
  /** For a mismatch: the digests of the file. Absent: not known. */
  readonly digests?: Digests;
  /** For a file that the operator ignores: the failure that held it before. */
  readonly over?: Failure;
}

/** The part of a failure that the history of a file keeps; the message is the note. */
export interface AttemptFailure extends Pick<Failure, 'kind' | 'code'> {
  /** HTTP status, if an answer came. */
  readonly status: number | null;
}

/** A video that the service already has. */
export interface HostedVideo {
  readonly id: string;
  readonly title: string;
  /** Seconds; null: the service does not state it. */
  readonly duration: number | null;
  /** The service's own word. */
  readonly status: string;
}

/** Which videos of the service a local file may be, by title and duration. */
export interface Likeness {
  /** The first videos found. */
  readonly videos: readonly HostedVideo[];
  /** How many videos there are; absent: `videos` has all of them. */
  readonly count?: number;
  /** One video certainly is this file: a ready one with its title and duration, which no other file claims. */
  readonly isSure: boolean;
  /** Why it is not certain, as a sentence; null when it is certain, or when there is no such video. */
  readonly doubt: string | null;
}

/** The service has to be asked about a video before its local file may be deleted. */
export const mustAskFirst: Failure = {
  kind: 'throttled',
  code: 'must_ask_first',
  message: 'dropcast checks its video on the service again before it deletes the local file',
};

/**
 * Why a file is held that does not match its sender's checksum.
 *
 * @param digests all known digests of the file: another checksum is compared with them before anything is sent again
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

/** dropcast cut the request itself while it stopped. This is not a failure. */
export const stopped: Failure = { kind: 'throttled', code: 'aborted', message: 'dropcast was stopped' };

/**
 * Code of 'the same content is already being uploaded': the file waits until the other one is uploaded or has ended.
 */
export const twinCode = 'twin_under_way';

/** Code of 'the whole file was sent, the service does not show it, and the file at its path is not what was sent'. */
export const unconfirmedCode = 'unconfirmed';

/**
 * Code of 'the answer to the PUT is a web page', the same as in the client. Only the service can say whether the file
 * arrived.
 */
export const webPageCode = 'web_page';

/** Code of 'an upload host refuses every new upload address'. */
export const refusedAddressesCode = 'addresses_refused';

/** Code of 'uploads may not start at this time of day'. */
export const outsideWindowCode = 'upload_window';

/** Codes of a file that waits for a channel or a feed that the service does not have. */
export const unknownNameCodes = { channel: 'unknown_channel', feed: 'unknown_feed' } as const;

/** Whether a failure is only a wait: it gets no line in the failure log, and the circuit breaker does not count it. */
export function isMereWait({ code }: Failure): boolean {
  return mereWaits.has(code);
}

const mereWaits: ReadonlySet<string> = new Set([
  ...Object.values(unknownNameCodes),
  stopped.code,
  twinCode,
  outsideWindowCode,
]);

/**
 * Whether a failure may concern a whole host and not only this request: no answer, an answer from a proxy, or one that
 * says that the host itself cannot serve it. A 409 or 422 is an answer to the request.
 */
export function isOfHost({ kind, status, code, inDoubt }: Failure): boolean {
  if (kind === 'offline') return true;
  if (kind !== 'transient') return false;
  if (status === undefined) return inDoubt === true;
  return status >= 500 || status === 408 || status === 429 || isOfMiddlebox.has(code);
}

/** Answers from something between this machine and the host: a login portal, a proxy. */
const isOfMiddlebox: ReadonlySet<string> = new Set(['unreadable_answer', webPageCode, 'redirect']);

/** Whether the local file is no longer the one that was accepted. */
export function isAway({ kind }: Failure): boolean {
  return kind === 'vanished' || kind === 'changed';
}

/** The failure of an error thrown where only a bug or a machine at its limits throws. */
export function failureOfThrown(error: unknown): Failure {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failureOfMachine(error) ?? { kind: 'bug', code: 'bug', message };
}

/** This machine has run out of a resource, or its disk refuses. */
const refusals = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EROFS', 'ENOMEM', 'EIO']);

/**
 * The one place that decides about a machine at its limits and a disk that refuses: no file is at fault, and everything
 * waits (design section 8).
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
