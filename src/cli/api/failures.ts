import {
  AbortedError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  RequestTimeoutError,
  ServerError,
  ServiceError,
  UnauthorizedError,
  UnreadableAnswerError,
  VideoFailedError,
} from '@dropcast/client';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { formatDuration } from '../output/format.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import type { Target } from './target.ts';

interface Around {
  readonly shell: Pick<Shell, 'stopping'>;
  readonly target: Pick<Target, 'keyFrom' | 'baseUrl'>;
}

/**
 * Turns a service failure into one sentence that includes what to do.
 *
 * @returns a CommandError; other errors unchanged
 */
export function explain(error: unknown, around: Around): unknown {
  if (error instanceof UnfinishedError) {
    const explained = explain(error.cause, around);
    if (!(explained instanceof CommandError)) return explained;
    return new CommandError(withRest(explained.message, error.leaves), explained.exitCode, { cause: explained.cause });
  }
  if (!(error instanceof ServiceError)) return error;
  const isStopped = error instanceof AbortedError && around.shell.stopping.aborted;
  const message = isStopped ? 'stopped before the service answered' : escapeControls(error.message);
  const exitCode = error.code === 'invalid_id' ? exitCodes.usage : exitCodes.failed;
  return new CommandError(withRest(message, adviceOn(error, around.target)), exitCode, { cause: error });
}

/** Appends text to a message, without the full stop with which the service ends its messages. */
function withRest(sentence: string, rest: string): string {
  return rest === '' ? sentence : sentence.replace(/\.$/, '') + rest;
}

/** What to do about an error, starting with a semicolon; empty if there is no advice. */
function adviceOn(error: ServiceError, { keyFrom, baseUrl }: Around['target']): string {
  if (error instanceof UnauthorizedError) return `; the key is from ${keyFrom}`;
  if (error instanceof ForbiddenError) return `; the key (from ${keyFrom}) lacks the permission`;
  if (error instanceof RateLimitedError && error.retryAfterMs !== undefined)
    return `; try again in ${formatDuration(error.retryAfterMs)}`;
  if (error instanceof ServerError && error.requestId !== undefined)
    return `; give its support the request id ${error.requestId}`;
  if (error instanceof NotFoundError && new URL(baseUrl).pathname === '/')
    return '; the service address lacks a version such as /v1 at its end';
  // The client names this variable if it does not know a certificate's authority.
  return error.message.includes('NODE_EXTRA_CA_CERTS') ? '; or pass --ca FILE' : '';
}

/**
 * Thrown when a create or an upload failed and left, or may have left, something on the service. `cause` is the failure
 * itself.
 */
class UnfinishedError extends Error {
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
    const command = `\`dropcast videos get ${escapeControls(id)}\``;
    throw new UnfinishedError(`; the service keeps processing the video: see ${command}`, error);
  }
}

function leftBy(error: unknown, id: string | null): string {
  if (id === null) return isInDoubt(error) ? '; it may still have created a record: see `dropcast videos list`' : '';
  const name = escapeControls(id);
  return `; the record ${name} remains, perhaps without its file: check it with \`dropcast videos get ${name}\`, remove it with \`dropcast videos delete ${name}\``;
}

/** Whether the service may have carried out the request even though no usable response came back. */
export function isInDoubt(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) return error.sent;
  return error instanceof ServerError || error instanceof UnreadableAnswerError || error instanceof AbortedError;
}
