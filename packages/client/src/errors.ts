import { scrubAddresses } from './transport/scrub.ts';

export interface ErrorFacts {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Anything that went wrong between us and the hosted service, in words that may be logged. Errors of the HTTP library hold
 * the key and signed addresses in enumerable fields (measured), so none of them is kept: the cause is a copy of
 * name, code and message.
 */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';
  /** The service's error code, an errno name, or a word of ours. */
  readonly code: string;
  /** HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** Not before so long from now, if the other side said so. */
  readonly retryAfterMs: number | undefined;
  /** The service's own name for the request, to quote to its support. */
  readonly requestId: string | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(scrubAddresses(message), facts.cause === undefined ? undefined : { cause: plainCopy(facts.cause) });
    this.code = facts.code ?? 'service_error';
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.requestId = facts.requestId;
  }
}

/** 401: the key is missing, wrong or revoked. */
export class UnauthorizedError extends ServiceError {
  override readonly name = 'UnauthorizedError';
}

/** 402: the account does not pay for this any more. */
export class PaymentRequiredError extends ServiceError {
  override readonly name = 'PaymentRequiredError';
}

/** 403: the key may not do this. */
export class ForbiddenError extends ServiceError {
  override readonly name = 'ForbiddenError';
}

/** 404: the service does not know what was asked for. */
export class NotFoundError extends ServiceError {
  override readonly name = 'NotFoundError';
}

/** 429: too many requests. */
export class RateLimitedError extends ServiceError {
  override readonly name = 'RateLimitedError';
}

/** Any other 4xx: the service understood and refuses. */
export class RejectedError extends ServiceError {
  override readonly name = 'RejectedError';
}

/** 5xx. The request may have been carried out all the same. */
export class ServerError extends ServiceError {
  override readonly name = 'ServerError';
}

/** A 2xx answer that is no JSON, has another shape, is too long, or came from something that is not the service. */
export class UnreadableAnswerError extends ServiceError {
  override readonly name = 'UnreadableAnswerError';
}

/** 3xx. Never followed: a redirected PUT becomes an empty one that reports success, a redirected request may carry the key away. */
export class RedirectError extends ServiceError {
  override readonly name = 'RedirectError';
  readonly by: 'service' | 'upload address';

  constructor(by: 'service' | 'upload address', message: string, facts: ErrorFacts) {
    super(message, facts);
    this.by = by;
  }
}

/** The connection could not be made, or broke. `sent` is false only if no byte of the request can have been written. */
export class ConnectionError extends ServiceError {
  override readonly name = 'ConnectionError';
  readonly sent: boolean;

  constructor(sent: boolean, message: string, facts: ErrorFacts) {
    super(message, facts);
    this.sent = sent;
  }
}

/** No answer in time. `sent` as in ConnectionError. */
export class RequestTimeoutError extends ServiceError {
  override readonly name = 'RequestTimeoutError';
  readonly sent: boolean;

  constructor(sent: boolean, message: string, facts: ErrorFacts) {
    super(message, facts);
    this.sent = sent;
  }
}

/** What can go wrong only while sending a file; connection and time-out errors are those above. */
export class UploadError extends ServiceError {
  override readonly name: string = 'UploadError';
}

/** The upload address answers 401, 403, 404 or 410: it has expired or was used up. */
export class AddressDeadError extends UploadError {
  override readonly name = 'AddressDeadError';
}

/** The upload address answers 409: something was uploaded already. Only the status of the video can tell. */
export class UploadConflictError extends UploadError {
  override readonly name = 'UploadConflictError';
}

/** The upload address refuses this file, or is no address that may be sent to. */
export class UploadRejectedError extends UploadError {
  override readonly name = 'UploadRejectedError';
}

/** The upload address answers 5xx, 408, 425 or 429, or says success before it had the whole file. */
export class UploadServerError extends UploadError {
  override readonly name = 'UploadServerError';
}

/** No byte left for the stall time, or no answer came after the last one. */
export class UploadStalledError extends UploadError {
  override readonly name = 'UploadStalledError';
}

/** The file is no longer the version that was accepted. */
export class FileChangedError extends UploadError {
  override readonly name = 'FileChangedError';
}

/** There is no file at the path any more. */
export class FileVanishedError extends UploadError {
  override readonly name = 'FileVanishedError';
}

/** The file is there but cannot be read; `code` is the errno name, or `outside_folder`. */
export class FileUnreadableError extends UploadError {
  override readonly name = 'FileUnreadableError';
}

/** We ourselves broke it off: the caller's signal, or the shutdown. No failure of anything. */
export class AbortedError extends ServiceError {
  override readonly name = 'AbortedError';

  constructor(what: string) {
    super(`${what} was broken off`, { code: 'aborted' });
  }
}

/** The service gave a video up: its status is `failed`. */
export class VideoFailedError extends ServiceError {
  override readonly name = 'VideoFailedError';
  readonly videoId: string;
  /** Why, in the service's words, if it says so. */
  readonly reason: string | undefined;

  constructor(videoId: string, reason: string | undefined) {
    super(`the video ${JSON.stringify(videoId)} failed${reason === undefined ? '' : `: ${reason}`}`, {
      code: 'video_failed',
    });
    this.videoId = videoId;
    this.reason = reason === undefined ? undefined : scrubAddresses(reason);
  }
}

/** A video was neither ready nor failed in the time that the caller gave it. It may become so yet. */
export class WaitTimeoutError extends ServiceError {
  override readonly name = 'WaitTimeoutError';
  readonly videoId: string;
  /** The last one that was heard. */
  readonly lastStatus: string | undefined;

  constructor(videoId: string, waitMs: number, lastStatus: string | undefined) {
    const state = lastStatus === undefined ? 'nothing was heard of it' : `it is ${JSON.stringify(lastStatus)}`;
    super(`the video ${JSON.stringify(videoId)} was not ready within ${waitMs} ms: ${state}`, { code: 'wait_timeout' });
    this.videoId = videoId;
    this.lastStatus = lastStatus;
  }
}

/** A webhook is not from the service, is too old, or says nothing that can be read; `code` tells which. */
export class WebhookSignatureError extends ServiceError {
  override readonly name = 'WebhookSignatureError';
}

/** Throws an AbortedError if the signal says stop. */
export function throwIfAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted === true) throw new AbortedError(what);
}

/** The `code` of an error of the system or a library, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code !== '' ? error.code : undefined;
}

/** Name, code and message, without the stack and whatever else hangs on it. */
function plainCopy(error: unknown): Error {
  const copy = new Error(error instanceof Error ? scrubAddresses(error.message) : 'not an error object');
  const code = codeOf(error);
  if (error instanceof Error) copy.name = error.name;
  copy.stack = `${copy.name}: ${copy.message}`;
  return code === undefined ? copy : Object.assign(copy, { code });
}
