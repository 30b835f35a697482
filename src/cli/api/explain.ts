import {
  AbortedError,
  ForbiddenError,
  RateLimitedError,
  ServerError,
  ServiceError,
  UnauthorizedError,
} from '../../service/errors.ts';
import { formatDuration } from '../output/format.ts';
import { visible } from '../output/visible.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import type { Target } from './target.ts';
import { UnfinishedError } from './unfinished.ts';

/** A failure of the service as one sentence with what to do about it; anything else is given back as it is. */
export function explain(error: unknown, around: Around): unknown {
  if (error instanceof UnfinishedError) return withRest(explain(error.cause, around), error.leaves);
  if (!(error instanceof ServiceError)) return error;
  const isStopped = error instanceof AbortedError && around.shell.stopping.aborted;
  const message = isStopped ? 'stopped before the service had answered' : visible(error.message);
  return new CommandError(message + adviceOn(error, around.target), exitCodes.failed, { cause: error });
}

interface Around {
  readonly shell: Pick<Shell, 'stopping'>;
  readonly target: Pick<Target, 'keyFrom'>;
}

function withRest(explained: unknown, rest: string): unknown {
  if (!(explained instanceof CommandError)) return explained;
  return new CommandError(explained.message + rest, explained.exitCode, { cause: explained.cause });
}

/** The rest of the sentence, from a semicolon on, or nothing. */
function adviceOn(error: ServiceError, { keyFrom }: Pick<Target, 'keyFrom'>): string {
  if (error instanceof UnauthorizedError) return `; the key is from ${keyFrom}`;
  if (error instanceof ForbiddenError) return `; the key, from ${keyFrom}, may not do this`;
  if (error instanceof RateLimitedError && error.retryAfterMs !== undefined) {
    return `; ask again in ${formatDuration(error.retryAfterMs)}`;
  }
  if (error instanceof ServerError && error.requestId !== undefined)
    return `; its support wants to know the request ${error.requestId}`;
  return untrusted.has(error.code) ? '; name a certificate to trust with --ca FILE' : '';
}

/** How OpenSSL calls a certificate that no known authority signed. */
const untrusted: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
