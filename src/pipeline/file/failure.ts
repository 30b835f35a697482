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
 * - `gone`: the service no longer knows the video; somebody deleted it.
 * - `duplicate`: the same content was uploaded before, by the file `twin`.
 * - `vanished`, `changed`: the local file is away, or no longer the one that was accepted.
 * - `unclear`: only a person can tell whether it happened (an import whose answer was lost).
 * - `mismatch`: the local file is not what its sender's checksum says, or that checksum cannot be read.
 * - `bug`: thrown by our own code.
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
  /** Machine-readable: the service's error code, an errno name, or a word of ours. */
  readonly code: string;
  /** One sentence for a person. Never holds a secret or a signed address. */
  readonly message: string;
  /** HTTP status, if there was one. */
  readonly status?: number;
  /** Milliseconds to wait at least, if the other side said so. */
  readonly retryAfterMs?: number;
  /** True when the request may have been carried out although no usable answer came. */
  readonly inDoubt?: boolean;
  /** A feed that the service does not have. */
  readonly feed?: string;
  /** Of a duplicate: the id of the file that was uploaded with the same content. */
  readonly twin?: string;
  /** Of a file that was there before dropcast watched its folder: what the service has that it may be. Absent: not compared yet. */
  readonly likeness?: Likeness;
  /** The code of what keeps a file that was sent whole and is not confirmed from being sent again. */
  readonly because?: string;
  /** Of a mismatch: the digests that the file has. Absent: they are not known. */
  readonly digests?: Digests;
  /** Of a file that a person ignores: what it was held for before. */
  readonly over?: Failure;
}

/** What the history of a file keeps of a failure; its message is the note. */
export interface AttemptFailure extends Pick<Failure, 'kind' | 'code'> {
  /** HTTP status, if there was one. */
  readonly status: number | null;
}

/** A video that the service has already. */
export interface HostedVideo {
  readonly id: string;
  readonly title: string;
  /** Seconds; null: the service does not say. */
  readonly duration: number | null;
  /** The service's own word. */
  readonly status: string;
}

/** Which videos of the service a local file may be, by title and duration. */
export interface Likeness {
  /** The first of them. */
  readonly videos: readonly HostedVideo[];
  /** How many there are; absent: these are all. */
  readonly count?: number;
  /** It is the one video: a ready one with its title and duration, which no other file claims. */
  readonly isSure: boolean;
  /** Why it is not sure, for a person; null when it is, or when there is no such video. */
  readonly doubt: string | null;
}

/** A local file may not go before the service is asked about its video. */
export const mustAskFirst: Failure = {
  kind: 'throttled',
  code: 'must_ask_first',
  message: 'the service is asked about its video again before its local file is deleted',
};

/**
 * Why a file is held that is not what its sender sent.
 *
 * @param digests all that are known of it: another checksum is compared with them before anything is sent again
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

/** We cut it ourselves: not a failure. */
export const stopped: Failure = { kind: 'throttled', code: 'aborted', message: 'dropcast was stopped' };

/** Code of 'the same content is already on its way': waits until the other file is uploaded or has ended. */
export const twinCode = 'twin_under_way';

/** Code of 'the whole file was sent, the service does not show it, and what lies there is not what was sent'. */
export const unconfirmedCode = 'unconfirmed';

/** Code of 'the answer to the PUT is a web page', as the client has it. Whether the file arrived, only the service can say. */
export const webPageCode = 'web_page';

/** Code of 'an upload host refuses every new upload address'. */
export const refusedAddressesCode = 'addresses_refused';

/** Code of 'uploads may not start at this time of day'. */
export const outsideWindowCode = 'upload_window';

/** Of a file that waits for a channel that the service does not have, and of a feed that it does not have. */
export const unknownNameCodes = { channel: 'unknown_channel', feed: 'unknown_feed' } as const;

/** Whether it is only a wait: no line in the failure log, and nothing for the breaker to count. */
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
 * Whether it may be the failure of a whole host, not of what was asked: no answer, one of a proxy, or one that says that the host itself
 * cannot. A 409 or 422 is an answer to the request.
 */
export function isOfHost({ kind, status, code, inDoubt }: Failure): boolean {
  if (kind === 'offline') return true;
  if (kind !== 'transient') return false;
  if (status === undefined) return inDoubt === true;
  return status >= 500 || status === 408 || status === 429 || isOfMiddlebox.has(code);
}

/** Answers of something between here and the host: a login portal, a proxy. */
const isOfMiddlebox: ReadonlySet<string> = new Set(['unreadable_answer', webPageCode, 'redirect']);

/** Whether the local file is no longer the one that was accepted. */
export function isAway({ kind }: Failure): boolean {
  return kind === 'vanished' || kind === 'changed';
}

/** What was thrown where only mistakes of ours and a machine at its limits throw. */
export function failureOfThrown(error: unknown): Failure {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failureOfMachine(error) ?? { kind: 'bug', code: 'bug', message };
}

/** This machine has run out of something, or its disk refuses. */
const refusals = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EROFS', 'ENOMEM', 'EIO']);

/**
 * The one decision about a machine at its limits and a disk that refuses: it is no file's fault, everything waits (design
 * section 8).
 *
 * @returns null when it is nothing of that kind
 */
export function failureOfMachine(error: unknown): Failure | null {
  if (error instanceof LedgerUnavailableError)
    return { kind: 'suspended', code: error.failureCode, message: error.message };
  if (!hasCode(error)) return null;
  const code = nameOfCode(error);
  return refusals.has(code) ? { kind: 'suspended', code, message: error.message } : null;
}
