import {
  AbortedError,
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  ServerError,
  ServiceError,
  UnauthorizedError,
} from '@dropcast/client';
import { formatDuration } from '../output/format.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import type { Target } from './target.ts';
import { UnfinishedError } from './unfinished.ts';

/**
 * Turns a service failure into one sentence that includes what to do.
 *
 * @returns a CommandError; other errors unchanged
 */
export function explain(error: unknown, around: Around): unknown {
  if (error instanceof UnfinishedError) return withLeftover(explain(error.cause, around), error.leaves);
  if (!(error instanceof ServiceError)) return error;
  const isStopped = error instanceof AbortedError && around.shell.stopping.aborted;
  const message = isStopped ? 'stopped before the service answered' : escapeControls(error.message);
  const exitCode = error.code === 'invalid_id' ? exitCodes.usage : exitCodes.failed;
  return new CommandError(withRest(message, adviceOn(error, around.target)), exitCode, { cause: error });
}

interface Around {
  readonly shell: Pick<Shell, 'stopping'>;
  readonly target: Pick<Target, 'keyFrom' | 'baseUrl'>;
}

function withLeftover(explained: unknown, leaves: string): unknown {
  if (!(explained instanceof CommandError)) return explained;
  return new CommandError(withRest(explained.message, leaves), explained.exitCode, { cause: explained.cause });
}

/** Appends text to a message, without the full stop with which the service ends its messages. */
function withRest(sentence: string, rest: string): string {
  return rest === '' ? sentence : sentence.replace(/\.$/, '') + rest;
}

/** What to do about an error, starting with a semicolon; empty if there is no advice. */
function adviceOn(error: ServiceError, { keyFrom, baseUrl }: Around['target']): string {
  if (error instanceof UnauthorizedError) return `; the key is from ${keyFrom}`;
  if (error instanceof ForbiddenError) return `; the key (from ${keyFrom}) lacks the permission`;
  if (error instanceof RateLimitedError && error.retryAfterMs !== undefined) {
    return `; try again in ${formatDuration(error.retryAfterMs)}`;
  }
  if (error instanceof ServerError && error.requestId !== undefined)
    return `; give its support the request id ${error.requestId}`;
  if (error instanceof NotFoundError && new URL(baseUrl).pathname === '/')
    return '; the service address lacks a version such as /v1 at its end';
  // The client names this variable if it does not know a certificate's authority.
  return error.message.includes('NODE_EXTRA_CA_CERTS') ? '; or pass --ca FILE' : '';
}
