import { ConnectionError, RateLimitedError, RequestTimeoutError, ServiceError } from './errors.ts';

export interface RetryFacts {
  /** The attempt that has just failed, from 1. */
  readonly attempt: number;
  /** Repeating does no harm if the service already carried out an earlier attempt. */
  readonly isRepeatable: boolean;
  /** It carries an `Idempotency-Key` that the service honours. Default false. */
  readonly isKeyed?: boolean;
  readonly maxRetries: number;
  readonly maxRetryAfterMs: number;
  /** In [0, 1). */
  readonly random: number;
}

/** Bounds of the backoff, as in the clients of Stripe and Mux. */
const backoff = { firstMs: 500, mostMs: 8000 } as const;

/**
 * Decides whether to send a failed request again, and when.
 *
 * @returns milliseconds to wait; null to give up: the error is permanent, the request must not be repeated, no attempt
 *   is left, or the service asks for a longer wait than is allowed
 */
export function waitBeforeRetry(error: unknown, facts: RetryFacts): number | null {
  if (!(error instanceof ServiceError) || facts.attempt > facts.maxRetries) return null;
  if (!isPassing(error) && !(facts.isKeyed === true && isUnderWay(error))) return null;
  if (!facts.isRepeatable && mayHaveHappened(error)) return null;
  return pauseMs(error, facts);
}

/** The wait: as long as the service asks, otherwise backoff with full jitter; null if the service asks for too long. */
export function pauseMs(
  { retryAfterMs }: Pick<ServiceError, 'retryAfterMs'>,
  { attempt, maxRetryAfterMs, random }: Pick<RetryFacts, 'attempt' | 'maxRetryAfterMs' | 'random'>,
): number | null {
  const jitteredMs = Math.round(random * Math.min(backoff.mostMs, backoff.firstMs * 2 ** (attempt - 1)));
  if (retryAfterMs === undefined) return jitteredMs;
  return retryAfterMs > maxRetryAfterMs ? null : Math.max(retryAfterMs, jitteredMs);
}

/** Whether the same request may succeed slightly later: no answer, 408, 429, 5xx. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) return true;
  return error instanceof ServiceError && error.status !== undefined && isPassingStatus(error.status);
}

/** Whether the service may have carried out a request that failed with this error. A 429 says that it did not. */
export function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) return error.sent;
  return isPassing(error) && !(error instanceof RateLimitedError);
}

/**
 * A service answers 409 to a key while it still carries out an earlier request with it
 * (draft-ietf-httpapi-idempotency-key-header section 2.7).
 */
function isUnderWay({ status }: ServiceError): boolean {
  return status === 409;
}

function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
