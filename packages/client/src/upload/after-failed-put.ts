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
  /** The last part of a body left, in this attempt or an earlier one: the file may have arrived whole. */
  readonly mayHaveArrived: boolean;
}

export type NextStep =
  | { readonly kind: 'give up' }
  /** Ask for the status after a pause, and send again only if it is `pending` and that is allowed. */
  | { readonly kind: 'ask'; readonly waitMs: number; readonly maySendAgain: boolean };

const giveUp: NextStep = { kind: 'give up' };

/**
 * What follows on a PUT that failed. Only the status of the video tells whether the file arrived: a second complete PUT could
 * make a second file of it, so none is sent before that was asked.
 */
export function afterFailedPut(error: unknown, facts: FailedPut): NextStep {
  const mayArrive = facts.attempt <= facts.maxRetries;
  if (isPassing(error)) return mayArrive || facts.mayHaveArrived ? ask(error, facts, mayArrive) : giveUp;
  // Used up: by an earlier attempt of ours, whose answer was lost, or it has expired.
  if (error instanceof AddressDeadError && facts.mayHaveArrived) return ask(error, facts, false);
  return giveUp;
}

function ask(error: ServiceError, facts: FailedPut, maySendAgain: boolean): NextStep {
  const waitMs = pauseMs(error, facts);
  return waitMs === null ? giveUp : { kind: 'ask', waitMs, maySendAgain };
}

/** A conflict is among them: something is there already, perhaps our own bytes. */
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
