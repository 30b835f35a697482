import { accountTroubleOf } from '../pipeline/file/account-trouble.ts';
import { failureOfMachine, stopped } from '../pipeline/file/failure.ts';
import type { Failure, FailureKind } from '../pipeline/file/failure.ts';
import {
  AbortedError,
  AddressDeadError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  RedirectError,
  RejectedError,
  RequestTimeoutError,
  ServerError,
  ServiceError,
  UnauthorizedError,
  UnreadableAnswerError,
  UploadConflictError,
  UploadRejectedError,
  UploadServerError,
  UploadStalledError,
} from '@dropcast/client';
import { believedWait } from './budget-window.ts';

/**
 * Classifies anything that a client call throws (design section 8), except for errors from reading the local file,
 * which src/disk classifies.
 */
export function toFailure(error: unknown): Failure {
  if (error instanceof AbortedError) return stopped;
  if (!(error instanceof ServiceError)) return localFailure(error);
  const kind = kindOf(error);
  const { retryAfterMs } = error;
  return {
    kind,
    code: error.code,
    message: withOurKey(error.message),
    ...(error.status !== undefined && { status: error.status }),
    ...(retryAfterMs !== undefined && {
      // The reset of a quota may be hours away.
      retryAfterMs: accountTroubleOf(error) === null ? believedWait(retryAfterMs) : retryAfterMs,
    }),
    ...(kind === 'transient' && !(error instanceof RedirectError) && { inDoubt: true }),
  };
}

/** Names the configuration key in a message of the client, which knows only the environment variable. */
export function withOurKey(message: string): string {
  return message.replace('NODE_EXTRA_CA_CERTS', 'tls.ca');
}

function kindOf(error: ServiceError): FailureKind {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError)
    return error.sent ? 'transient' : 'offline';
  // A captive portal redirects every PUT until someone logs in, so the file is not to blame.
  if (error instanceof RedirectError) return error.by === 'service' ? 'suspended' : 'transient';
  if (error instanceof RejectedError) return error.status === 408 || error.status === 425 ? 'transient' : 'permanent';
  return kinds.find(([type]) => error instanceof type)?.[1] ?? 'bug';
}

const kinds: readonly (readonly [new (...args: never) => ServiceError, FailureKind])[] = [
  [UnauthorizedError, 'suspended'],
  [PaymentRequiredError, 'suspended'],
  [ForbiddenError, 'suspended'],
  [NotFoundError, 'gone'],
  [RateLimitedError, 'throttled'],
  [ServerError, 'transient'],
  [UnreadableAnswerError, 'transient'],
  [AddressDeadError, 'address dead'],
  // Something is already at the address, perhaps these very bytes. The video's status decides whether anything is sent
  // again.
  [UploadConflictError, 'transient'],
  [UploadServerError, 'transient'],
  [UploadStalledError, 'transient'],
  [UploadRejectedError, 'permanent'],
];

/** Error codes that indicate that this machine's network is down. */
const unreachable = new Set(['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED']);

/** Classifies an error that is not from the service: a machine at its limits, its network, or a bug. */
function localFailure(error: unknown): Failure {
  const ofMachine = failureOfMachine(error);
  if (ofMachine !== null) return ofMachine;
  if (!(error instanceof Error))
    return { kind: 'bug', code: 'unknown', message: 'something other than an error was thrown' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  // A bug's message may quote an address, so it is redacted like those of the client's own errors.
  const { message } = new ServiceError(error.message);
  return { kind: unreachable.has(code) ? 'offline' : 'bug', code, message };
}
