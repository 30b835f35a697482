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
  /** The last part of a body left, in this attempt or an earlier one: the file may have arrived complete. */
  readonly mayHaveArrived: boolean;
}

export type NextStep =
  | { readonly kind: 'give up' }
  /** Wait, ask for the status, and send again only if it is `pending` and `maySendAgain`. */
  | { readonly kind: 'ask'; readonly waitMs: number; readonly maySendAgain: boolean };

const giveUp: NextStep = { kind: 'give up' };

/**
 * The next step after a failed PUT. Only the status of the video shows whether the file arrived, and a second complete
 * PUT could create a second file, so the status is requested before anything is sent again.
 */
export function afterFailedPut(error: unknown, facts: FailedPut): NextStep {
  const mayArrive = facts.attempt <= facts.maxRetries;
  if (isPassing(error)) return mayArrive || facts.mayHaveArrived ? ask(error, facts, mayArrive) : giveUp;
  // An earlier attempt whose answer was lost has used the address, or it has expired.
  if (error instanceof AddressDeadError && facts.mayHaveArrived) return ask(error, facts, false);
  return giveUp;
}

function ask(error: ServiceError, facts: FailedPut, maySendAgain: boolean): NextStep {
  const waitMs = pauseMs(error, facts);
  return waitMs === null ? giveUp : { kind: 'ask', waitMs, maySendAgain };
}

/** A conflict counts: something is already there, perhaps these very bytes. */
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
