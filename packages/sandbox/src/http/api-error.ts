import type { ErrorAnswer } from '../contract/types.gen.ts';
import { storageTroubleOf } from '../store/storage-trouble.ts';
import { methodsAt } from './operations.ts';

/**
 * A refusal with the error body of api-spec section 7, which also defines its codes and statuses. The specification
 * leaves those for invalid requests open, so the ones beyond its table are assumed.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param code also determines the status @param message a whole sentence for the client @param headers sent with the
   *   answer
   */
  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return STATUS[this.code];
  }

  /** The complete body of the answer, as JSON. */
  get body(): string {
    const answer: ErrorAnswer = { error: { code: this.code, message: this.message } };
    return JSON.stringify(answer);
  }
}

export type ErrorCode = keyof typeof STATUS;

const STATUS = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  rate_limited: 429,
  server_error: 500,
  // assumed from here on
  bad_request: 400, // not HTTP or not JSON
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  gone: 410,
  length_required: 411,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  expectation_failed: 417,
  quota_reached: 403,
  daily_limit_reached: 429,
  misdirected_request: 421,
  invalid_request: 422, // well-formed, but not what the specification describes
  headers_too_large: 431,
  insufficient_storage: 507,
} as const;

/** Returns the code that belongs to an error status, or the closest one. */
export function codeOfStatus(status: number): ErrorCode {
  const codes = Object.keys(STATUS) as ErrorCode[];
  return codes.find((code) => STATUS[code] === status) ?? (status >= 500 ? 'server_error' : 'bad_request');
}

/** Turns any error into an ApiError that reveals none of the server's internals. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const trouble = storageTroubleOf(error);
  if (trouble?.isFull) return new ApiError('insufficient_storage', 'The sandbox has no disk space left.');
  if (trouble) return new ApiError('server_error', `The sandbox cannot use its data folder (${trouble.what}).`);
  return new ApiError('server_error', 'The sandbox failed to handle this request.');
}

/** Returns whether the error is a bug in the sandbox: neither a refusal nor a problem with its data folder. */
export function isDefect(error: unknown): boolean {
  return !(error instanceof ApiError) && storageTroubleOf(error) === undefined;
}

/** Turns an error into an answer. Bugs are reported to `onDefect` and answered with `server_error`. */
export function errorResponse(error: unknown, onDefect: (error: unknown) => void): Response {
  const refusal = toApiError(error);
  if (isDefect(error)) onDefect(error);
  const headers = { 'Content-Type': 'application/json', ...refusal.headers };
  return new Response(refusal.body, { status: refusal.status, headers });
}

/** Answers every request to a port without an API. */
export function nothingHere(): Response {
  return errorResponse(new ApiError('not_found', 'There is nothing at this path.'), () => undefined);
}

/** Answers a request for a path without a route. @throws ApiError 404 or 405 */
export function answerElsewhere(method: string, path: string): Response {
  const methods = methodsAt(path);
  if (methods.length === 0) throw new ApiError('not_found', 'There is nothing at this path.');
  const allow = { Allow: methods.join(', ') };
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: allow });
  throw new ApiError('method_not_allowed', `This path allows ${allow.Allow}.`, allow);
}
