import {
  AbortedError,
  ConnectionError,
  RequestTimeoutError,
  ServerError,
  UnreadableAnswerError,
} from '../../service/errors.ts';
import { visible } from '../output/visible.ts';

/** A create or an upload went wrong and has, or may have, left something on the service. The cause says what went wrong. */
export class UnfinishedError extends Error {
  override readonly name = 'UnfinishedError';
  /** What is left and what to do about it, as the end of a sentence; empty when nothing is. */
  readonly leaves: string;

  constructor(leaves: string, cause: unknown) {
    super('the service was left with something half done', { cause });
    this.leaves = leaves;
  }
}

/**
 * Does what makes a record, and tells what a failure leaves behind: a request without an answer may have been carried out, and a
 * record without its file stays.
 *
 * @param work calls back with the id as soon as the record exists
 * @throws {UnfinishedError}
 */
export async function makingRecord<T>(work: (onId: (id: string) => void) => Promise<T>): Promise<T> {
  let made: string | null = null;
  try {
    return await work((id) => {
      made = id;
    });
  } catch (error) {
    throw new UnfinishedError(leftBy(error, made), error);
  }
}

function leftBy(error: unknown, id: string | null): string {
  if (id !== null) {
    const name = visible(id);
    return `; the record ${name} is left, perhaps without its file: \`dropcast videos get ${name}\` tells, \`dropcast videos delete ${name}\` removes it`;
  }
  return isInDoubt(error) ? '; a record may have been made all the same: see `dropcast videos list`' : '';
}

/** Whether the service may have done what was asked although no good answer came. */
function isInDoubt(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) return error.sent;
  return error instanceof ServerError || error instanceof UnreadableAnswerError || error instanceof AbortedError;
}
