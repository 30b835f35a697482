import {
  AddressDeadError,
  ConnectionError,
  RequestTimeoutError,
  UnreadableAnswerError,
  UploadConflictError,
  UploadServerError,
  UploadStalledError,
} from '../errors.ts';
import type { ServiceError } from '../errors.ts';
import { pauseMs } from '../retry.ts';
import type { RetryFacts } from '../retry.ts';

export interface FailedPut extends Omit<RetryFacts, 'isRepeatable'> {
  /**
   * Whether the last part of the body was sent in this or an earlier attempt. If so, the file may have arrived
   * complete.
   */
  readonly mayHaveArrived: boolean;
}

/**
 * Returns the next step after a failed PUT. Only the video's status shows whether the file arrived, and a second
 * complete PUT could create a second file, so the status is requested before anything is sent again.
 *
 * @returns the wait before the status is requested, and whether the file may be sent again if that is `pending`; null to
 *   give up
 */
export function afterFailedPut(
  error: unknown,
  facts: FailedPut,
): { readonly waitMs: number; readonly maySendAgain: boolean } | null {
  const maySendAgain = isPassing(error) && facts.attempt <= facts.maxRetries;
  // A dead address has expired, or was used by an earlier attempt whose response was lost.
  const mayHaveArrived = facts.mayHaveArrived && (isPassing(error) || error instanceof AddressDeadError);
  const waitMs = maySendAgain || mayHaveArrived ? pauseMs(error, facts) : null;
  return waitMs === null ? null : { waitMs, maySendAgain };
}

/** Conflicts count as transient: the file already there may be this one. */
function isPassing(error: unknown): error is ServiceError {
  return [
    ConnectionError,
    RequestTimeoutError,
    UploadServerError,
    UploadStalledError,
    UploadConflictError,
    UnreadableAnswerError,
  ].some((kind) => error instanceof kind);
}
