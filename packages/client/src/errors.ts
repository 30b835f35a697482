import { scrubAddresses } from './transport/scrub.ts';
import type { OpenWord } from './wire/tolerant.ts';

/** Details of an error besides its message. */
export interface ErrorFacts {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The kind of failure, as one word: a code of the service (api-spec section 7), a code of this package, or any other
 * word. Services add codes, and failed connections have the system's errno name, such as `ECONNREFUSED`.
 */
export type ErrorCode = OpenWord<
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'rate_limited'
  | 'server_error'
  | 'aborted'
  | 'answer_too_long'
  | 'bad_header'
  | 'bad_timestamp'
  | 'early_answer'
  | 'expectation_failed'
  | 'file_changed'
  | 'file_touched'
  | 'http2_only'
  | 'incomplete_upload'
  | 'invalid_id'
  | 'lookup_timeout'
  | 'missing_header'
  | 'no_upload_address'
  | 'not_a_file'
  | 'not_bytes'
  | 'read_failed'
  | 'redirect'
  | 'service_error'
  | 'service_not_located'
  | 'stream_used'
  | 'timeout'
  | 'too_new'
  | 'too_old'
  | 'unreadable_answer'
  | 'unreadable_event'
  | 'unsafe_upload_address'
  | 'unusable_proxy'
  | 'upload_conflict'
  | 'video_failed'
  | 'wait_timeout'
  | 'web_page'
  | 'wrong_offset'
  | 'wrong_signature'
>;

/**
 * Any failure between this program and the service. Safe to log: errors of the HTTP library contain the key and signed
 * addresses in enumerable fields (measured), so `cause` is only a copy of their name, code and message.
 */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';
  readonly code: ErrorCode;
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** How long the other side asked to wait before the next request, in milliseconds, 1,000 to 2,147,483,647. */
  readonly retryAfterMs: number | undefined;
  /** The service's id for the request, to quote to its support. */
  readonly requestId: string | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(scrubAddresses(message), facts.cause === undefined ? undefined : { cause: plainCopy(facts.cause) });
    this.code = facts.code ?? 'service_error';
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.requestId = facts.requestId;
  }

  /** Returns what `JSON.stringify` shows: the message and the facts, without `cause` and stack. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { cause: _, ...facts } = this;
    return { ...facts, name: this.name, message: this.message };
  }
}

/** 401: the key is missing, wrong or revoked. */
export class UnauthorizedError extends ServiceError {
  override readonly name = 'UnauthorizedError';
}

/** 402: the account must pay first. */
export class PaymentRequiredError extends ServiceError {
  override readonly name = 'PaymentRequiredError';
}

/** 403: the key lacks the permission. */
export class ForbiddenError extends ServiceError {
  override readonly name = 'ForbiddenError';
}

/** 404 or 410: the video, channel or feed does not exist. */
export class NotFoundError extends ServiceError {
  override readonly name = 'NotFoundError';
}

/** 429: too many requests. */
export class RateLimitedError extends ServiceError {
  override readonly name = 'RateLimitedError';
}

/** Any other 4xx: the service refused the request. */
export class RejectedError extends ServiceError {
  override readonly name = 'RejectedError';
}

/** 5xx. The service may still have carried out the request. */
export class ServerError extends ServiceError {
  override readonly name = 'ServerError';
}

/**
 * A 2xx response that is not JSON, has an unexpected shape or is too long. Often a proxy or login page answered instead
 * of the service.
 */
export class UnreadableAnswerError extends ServiceError {
  override readonly name = 'UnreadableAnswerError';
}

/**
 * 3xx. Redirects are never followed: a redirected PUT becomes an empty one that reports success, and a redirected
 * request may leak the key.
 */
export class RedirectError extends ServiceError {
  override readonly name = 'RedirectError';
  readonly by: 'service' | 'upload address';

  constructor(by: 'service' | 'upload address', message: string, facts: ErrorFacts) {
    super(message, facts);
    this.by = by;
  }
}

/** The connection could not be established, or broke. */
export class ConnectionError extends ServiceError {
  override readonly name = 'ConnectionError';
  /** False only if no byte of the request can have left this machine, so the service cannot have acted on it. */
  readonly sent: boolean;

  constructor(sent: boolean, message: string, facts: ErrorFacts) {
    super(message, facts);
    this.sent = sent;
  }
}

/** No response arrived in time. */
export class RequestTimeoutError extends ServiceError {
  override readonly name = 'RequestTimeoutError';
  /** False only if no byte of the request can have left this machine, so the service cannot have acted on it. */
  readonly sent: boolean;

  constructor(sent: boolean, message: string, facts: ErrorFacts) {
    super(message, facts);
    this.sent = sent;
  }
}

/** Failures specific to sending a file. Broken connections and timeouts have the classes above. */
export class UploadError extends ServiceError {
  override readonly name: string = 'UploadError';
}

/** The upload address answered 401, 403, 404 or 410: it has expired or was already used. */
export class AddressDeadError extends UploadError {
  override readonly name = 'AddressDeadError';
}

/** The upload address answered 409: something was already uploaded to it. Only the video's status shows what. */
export class UploadConflictError extends UploadError {
  override readonly name = 'UploadConflictError';
}

/**
 * The upload address refused this file (any other 4xx), or is unsafe: it is not https, contains a password, or leads
 * nearer to this machine than the service itself (`code` is `unsafe_upload_address`).
 */
export class UploadRejectedError extends UploadError {
  override readonly name = 'UploadRejectedError';
}

/** The upload address answered 5xx, 408, 425 or 429, or reported success before the whole file was sent. */
export class UploadServerError extends UploadError {
  override readonly name = 'UploadServerError';
}

/** No bytes were sent within `stallTimeoutMs`, or no response arrived within `answerTimeoutMs` after the last one. */
export class UploadStalledError extends UploadError {
  override readonly name = 'UploadStalledError';
}

/** The file changed before or during the upload, or a stream's length differed from its `sizeBytes`. */
export class FileChangedError extends UploadError {
  override readonly name = 'FileChangedError';
}

/** No file exists at the path. */
export class FileVanishedError extends UploadError {
  override readonly name = 'FileVanishedError';
}

/** The file or stream cannot be read. `code` is the errno name or a code of this package. */
export class FileUnreadableError extends UploadError {
  override readonly name = 'FileUnreadableError';
}

/** The reason of every abort by a client that was disposed of. */
export const clientClosed = new Error('the client was closed');

/** The caller's signal fired, or the client was closed. `cause` is the signal's reason. */
export class AbortedError extends ServiceError {
  override readonly name = 'AbortedError';
  /** The argument of `abort()`, unchanged, or a `TimeoutError` from `AbortSignal.timeout()`. */
  override readonly cause: unknown;

  constructor(what: string, signal?: AbortSignal) {
    const why = signal?.reason === clientClosed ? `: ${clientClosed.message}` : '';
    super(`${what} was aborted${why}`, { code: 'aborted' });
    this.cause = signal?.reason;
  }
}

/** The video's status is `failed`. */
export class VideoFailedError extends ServiceError {
  override readonly name = 'VideoFailedError';
  readonly videoId: string;
  /** The service's reason, if it gave one. */
  readonly reason: string | undefined;

  constructor(videoId: string, reason: string | undefined) {
    super(`the video ${JSON.stringify(videoId)} failed${reason === undefined ? '' : `: ${reason}`}`, {
      code: 'video_failed',
    });
    this.videoId = videoId;
    this.reason = reason === undefined ? undefined : scrubAddresses(reason);
  }
}

/** The video was neither ready nor failed within `waitMs`. It may still become ready. */
export class WaitTimeoutError extends ServiceError {
  override readonly name = 'WaitTimeoutError';
  readonly videoId: string;
  /** The last status that the service reported. */
  readonly lastStatus: string | undefined;

  constructor(videoId: string, waitMs: number, lastStatus: string | undefined) {
    const state = lastStatus === undefined ? 'its status is unknown' : `it is ${JSON.stringify(lastStatus)}`;
    super(`the video ${JSON.stringify(videoId)} was not ready within ${waitMs} ms: ${state}`, { code: 'wait_timeout' });
    this.videoId = videoId;
    this.lastStatus = lastStatus;
  }
}

/** A webhook is not from the service, is too old, or cannot be read. `code` distinguishes the cases. */
export class WebhookSignatureError extends ServiceError {
  override readonly name = 'WebhookSignatureError';
}

/** @throws {AbortedError} the signal has fired */
export function throwIfAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted === true) throw new AbortedError(what, signal);
}

/** Returns the `code` of a system or library error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code !== '' ? error.code : undefined;
}

/** Copies name, code and message, but not the stack or other fields. */
function plainCopy(error: unknown): Error {
  const copy = new Error(error instanceof Error ? scrubAddresses(error.message) : 'not an error object');
  const code = codeOf(error);
  if (error instanceof Error) copy.name = error.name;
  copy.stack = `${copy.name}: ${copy.message}`;
  return code === undefined ? copy : Object.assign(copy, { code });
}
