import type { InstalledService } from '../config/installed-service.ts';
import { failureOfMachine, stopped } from '../pipeline/file/failure.ts';
import type { Failure, FailureKind } from '../pipeline/file/failure.ts';
import {
  AbortedError,
  AddressDeadError,
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
  clampWait,
  codeOf,
  scrubAddresses,
} from '@dropcast/client';
import { NotInFolderError } from '../disk/held-directory.ts';

type Verdict = readonly [kind: FailureKind, inDoubt?: boolean];

/** The failure class of whatever was thrown while speaking to the service or sending a file (design section 8). */
export function toFailure(error: unknown): Failure {
  if (error instanceof AbortedError) return stopped;
  if (error instanceof FileUnreadableError) return unreadable(error);
  if (!(error instanceof ServiceError)) return localFailure(error);
  const [kind, inDoubt] = verdictOf(error);
  return {
    kind,
    code: error.code,
    message: error.message,
    ...(error.status !== undefined && { status: error.status }),
    ...(error.retryAfterMs !== undefined && { retryAfterMs: clampWait(error.retryAfterMs) }),
    ...(inDoubt === true && { inDoubt }),
  };
}

/**
 * The failure class of whatever was thrown while looking at, reading or putting away a file of a watched folder.
 *
 * @param service that this is, for what a person does about its sandbox; null for none
 */
export function toFileFailure(error: unknown, service: InstalledService | null = null): Failure {
  if (error instanceof NotInFolderError) return { kind: 'permanent', code: 'outside_folder', message: error.message };
  if (!isSystemError(error)) return toFailure(error);
  if (error.code === 'EROFS') return { kind: 'suspended', code: error.code, message: readOnly(service) };
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') return unreadable(error);
  return { kind: 'vanished', code: error.code, message: 'the file is no longer there' };
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
  return undefined;
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && codeOf(error) !== undefined;
}

/** A spot of a disk that cannot be read is one file's matter, and the others go on; a share that went stale comes back. */
function unreadable(error: Error & { readonly code: string }): Failure {
  const { code, message } = error;
  if (code === 'outside_folder') return { kind: 'permanent', code, message };
  const ofMachine = code === 'EIO' ? null : failureOfMachine(error);
  return ofMachine ?? { kind: 'transient', code, message };
}

/** Under systemd only what was there at the start and is named in the drop-in can be written to (ProtectSystem=strict). */
function readOnly(service: InstalledService | null): string {
  const fact = 'the folder is read-only (EROFS)';
  if (service === null) return `${fact}: its files wait until they can be moved or deleted`;
  return `${fact}. The service cannot write to one that its drop-in does not name, nor to one that was made anew while it ran: \`${service.dropInCommand}\`, then \`sudo systemctl restart ${service.name}\``;
}

/** The network of this machine is away. */
const unreachable = new Set(['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED']);

function localFailure(error: unknown): Failure {
  const ofMachine = failureOfMachine(error);
  if (ofMachine !== null) return ofMachine;
  const code = codeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
  const message = error instanceof Error ? scrubAddresses(error.message) : 'something was thrown that is no error';
  return { kind: unreachable.has(code) ? 'offline' : 'bug', code, message };
}
