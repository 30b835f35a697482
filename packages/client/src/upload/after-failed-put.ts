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

export type NextStep =
  | { readonly kind: 'give up' }
  /** Wait, request the status, and send again only if it is `pending` and `maySendAgain`. */
  | { readonly kind: 'ask'; readonly waitMs: number; readonly maySendAgain: boolean };

const giveUp: NextStep = { kind: 'give up' };

/**
 * Returns the next step after a failed PUT. Only the video's status shows whether the file arrived, and a second
 * complete PUT could create a second file, so the status is requested before anything is sent again.
 */
export function afterFailedPut(error: unknown, facts: FailedPut): NextStep {
  const mayArrive = facts.attempt <= facts.maxRetries;
  if (isPassing(error)) return mayArrive || facts.mayHaveArrived ? ask(error, facts, mayArrive) : giveUp;
  // The address has expired, or was used by an earlier attempt whose response was lost.
  if (error instanceof AddressDeadError && facts.mayHaveArrived) return ask(error, facts, false);
  return giveUp;
}

function ask(error: ServiceError, facts: FailedPut, maySendAgain: boolean): NextStep {
  const waitMs = pauseMs(error, facts);
  return waitMs === null ? giveUp : { kind: 'ask', waitMs, maySendAgain };
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
