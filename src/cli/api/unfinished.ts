import {
  AbortedError,
  ConnectionError,
  RequestTimeoutError,
  ServerError,
  UnreadableAnswerError,
  VideoFailedError,
} from '@dropcast/client';
import { escapeControls } from '../../log/unsafe-characters.ts';

/**
 * Thrown when a create or an upload failed and left, or may have left, something on the service. `cause` is the failure
 * itself.
 */
export class UnfinishedError extends Error {
  override readonly name = 'UnfinishedError';
  /** What remains on the service and what to do about it, as the end of a sentence; empty if nothing remains. */
  readonly leaves: string;

  constructor(leaves: string, cause: unknown) {
    super('the service has an unfinished record', { cause });
    this.leaves = leaves;
  }
}

/**
 * Runs work that creates a record. If it fails, the error states what was left behind: an unanswered request may have
 * succeeded, and a record without its file stays.
 *
 * @param work calls `onId` as soon as the record exists
 * @throws {UnfinishedError}
 */
export async function creatingRecord<T>(work: (onId: (id: string) => void) => Promise<T>): Promise<T> {
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
 * Waits for a video. If waiting fails, the error states that the service continues processing.
 *
 * @throws {UnfinishedError}
 */
export async function waitingForVideo<T>(id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof VideoFailedError) throw error;
    const ask = `\`dropcast videos get ${escapeControls(id)}\``;
    throw new UnfinishedError(`; the service keeps processing the video: see ${ask}`, error);
  }
}

function leftBy(error: unknown, id: string | null): string {
  if (id !== null) {
    const name = escapeControls(id);
    return `; the record ${name} remains, perhaps without its file: check it with \`dropcast videos get ${name}\`, remove it with \`dropcast videos delete ${name}\``;
  }
  return isInDoubt(error) ? '; it may still have created a record: see `dropcast videos list`' : '';
}

/** Whether the service may have carried out the request even though no usable answer came back. */
export function isInDoubt(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) return error.sent;
  return error instanceof ServerError || error instanceof UnreadableAnswerError || error instanceof AbortedError;
}
