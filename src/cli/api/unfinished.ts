import {
  AbortedError,
  ConnectionError,
  RequestTimeoutError,
  ServerError,
  UnreadableAnswerError,
  VideoFailedError,
} from '@dropcast/client';
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

/**
 * Watches a video on its way, and tells, when that comes to an end before the video does, that the service goes on by itself.
 *
 * @throws {UnfinishedError}
 */
export async function watchingVideo<T>(id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof VideoFailedError) throw error;
    const ask = `\`dropcast videos get ${visible(id)}\``;
    throw new UnfinishedError(`; the service goes on with the video by itself: ${ask} tells how far it is`, error);
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
