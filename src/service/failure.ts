import type { Failure, FailureKind } from '../pipeline/failure.ts';
import {
  AddressDeadError,
  codeOf,
  ConnectionError,
  FileChangedError,
  FileUnreadableError,
  FileVanishedError,
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
} from './errors.ts';
import { scrubAddresses } from './scrub.ts';

type Verdict = readonly [kind: FailureKind, inDoubt?: boolean];

/**
 * The failure class of whatever was thrown while speaking to the service or sending a file (design section 8). An AbortedError
 * is no failure and must not get here: it is answered as a bug, like everything unknown.
 */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof ServiceError)) return localFailure(error);
  const [kind, inDoubt] = verdictOf(error);
  return {
    kind,
    code: error.code,
    message: error.message,
    ...(error.status !== undefined && { status: error.status }),
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    ...(inDoubt === true && { inDoubt }),
  };
}

function verdictOf(error: ServiceError): Verdict {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) {
    return error.sent ? ['transient', true] : ['offline'];
  }
  if (error instanceof RedirectError) return [error.by === 'service' ? 'suspended' : 'permanent'];
  return answerVerdict(error) ?? uploadVerdict(error) ?? ['bug'];
}

function answerVerdict(error: ServiceError): Verdict | undefined {
  if (error instanceof UnauthorizedError || error instanceof PaymentRequiredError || error instanceof ForbiddenError) {
    return ['suspended'];
  }
  if (error instanceof NotFoundError) return ['gone'];
  if (error instanceof RateLimitedError) return ['throttled'];
  if (error instanceof ServerError || error instanceof UnreadableAnswerError) return ['transient', true];
  if (error instanceof RejectedError) {
    return error.status === 408 || error.status === 425 ? ['transient', true] : ['permanent'];
  }
  return undefined;
}

function uploadVerdict(error: ServiceError): Verdict | undefined {
  if (error instanceof AddressDeadError) return ['address dead'];
  // Something is there already, perhaps our own bytes: the status of the video tells, before anything is sent again.
  if (error instanceof UploadConflictError) return ['transient', true];
  if (error instanceof UploadServerError || error instanceof UploadStalledError) return ['transient', true];
  if (error instanceof UploadRejectedError) return ['permanent'];
  if (error instanceof FileChangedError) return ['changed'];
  if (error instanceof FileVanishedError) return ['vanished'];
  if (error instanceof FileUnreadableError) return [unreadableKind(error.code)];
  return undefined;
}

function unreadableKind(code: string): FailureKind {
  if (code === 'outside_folder') return 'permanent';
  return exhausted.has(code) ? 'suspended' : 'transient';
}

/** The machine has run out of something: no file's fault. */
const exhausted = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EROFS', 'ENOMEM']);

/** The network of this machine is away. */
const unreachable = new Set(['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED']);

function localFailure(error: unknown): Failure {
  const code = codeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
  const message = error instanceof Error ? scrubAddresses(error.message) : 'something was thrown that is no error';
  if (exhausted.has(code)) return { kind: 'suspended', code, message };
  return { kind: unreachable.has(code) ? 'offline' : 'bug', code, message };
}
