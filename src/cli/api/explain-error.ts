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
import { visible } from '../output/visible.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import type { Target } from './target.ts';
import { UnfinishedError } from './unfinished.ts';

/** A failure of the service as one sentence with what to do about it; anything else is given back as it is. */
export function explain(error: unknown, around: Around): unknown {
  if (error instanceof UnfinishedError) return withLeft(explain(error.cause, around), error.leaves);
  if (!(error instanceof ServiceError)) return error;
  const isStopped = error instanceof AbortedError && around.shell.stopping.aborted;
  const message = isStopped ? 'stopped before the service had answered' : visible(error.message);
  const exitCode = error.code === 'invalid_id' ? exitCodes.usage : exitCodes.failed;
  return new CommandError(withRest(message, adviceOn(error, around.target)), exitCode, { cause: error });
}

interface Around {
  readonly shell: Pick<Shell, 'stopping'>;
  readonly target: Pick<Target, 'keyFrom' | 'baseUrl'>;
}

function withLeft(explained: unknown, leaves: string): unknown {
  if (!(explained instanceof CommandError)) return explained;
  return new CommandError(withRest(explained.message, leaves), explained.exitCode, { cause: explained.cause });
}

/** The service ends its sentences with a point; ours go on behind them. */
function withRest(sentence: string, rest: string): string {
  return rest === '' ? sentence : sentence.replace(/\.$/, '') + rest;
}

/** The rest of the sentence, from a semicolon on, or nothing. */
function adviceOn(error: ServiceError, { keyFrom, baseUrl }: Around['target']): string {
  if (error instanceof UnauthorizedError) return `; the key is from ${keyFrom}`;
  if (error instanceof ForbiddenError) return `; the key, from ${keyFrom}, may not do this`;
  if (error instanceof RateLimitedError && error.retryAfterMs !== undefined) {
    return `; ask again in ${formatDuration(error.retryAfterMs)}`;
  }
  if (error instanceof ServerError && error.requestId !== undefined)
    return `; its support wants to know the request ${error.requestId}`;
  if (error instanceof NotFoundError && new URL(baseUrl).pathname === '/')
    return '; the address of the service has no version at its end, like /v1';
  return untrusted.has(error.code) ? '; name a certificate to trust with --ca FILE' : (unreachable[error.code] ?? '');
}

/** What most often is behind the words of the system. */
const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: '; nothing listens there',
  ENOTFOUND: '; there is no host of this name',
  EPROTO: '; what listens there does not speak https',
};

/** How OpenSSL calls a certificate that no known authority signed. */
const untrusted: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
