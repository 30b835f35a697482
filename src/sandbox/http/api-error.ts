/**
 * A refusal with the error body of api-spec section 7. Its codes and statuses are given there; those for
 * invalid requests are left open, so the ones beyond that table are assumed.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return STATUS[this.code];
  }

  /** The whole answer's body, as JSON. */
  get body(): string {
    return JSON.stringify({ error: { code: this.code, message: this.message } });
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
  payload_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  misdirected_request: 421,
  invalid_request: 422, // well-formed, but not what the specification describes
  headers_too_large: 431,
  insufficient_storage: 507,
} as const;

/** The refusal that any error becomes: nothing inside the server shows through. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ApiError('insufficient_storage', 'The sandbox has no disk space left.');
  return new ApiError('server_error', 'The sandbox failed on this request.');
}
