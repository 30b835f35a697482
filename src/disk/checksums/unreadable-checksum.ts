import { errnoOf } from '../../errno.ts';
import { UnusableListError } from '../../routing/list-bounds.ts';
import { FileUnreadableError } from '@dropcast/client';
import { isRefusal } from '../../read-permission.ts';
import { failureOfMachine } from '../../pipeline/file/failure.ts';
import type { Failure } from '../../pipeline/file/failure.ts';

/**
 * Thrown when an existing checksum file cannot be read or understood. It may cover the file to be sent and show that
 * its content is wrong.
 */
export class UnreadableChecksumError extends Error {
  override readonly name = 'UnreadableChecksumError';
  /** Path of the checksum file, or of the directory that may contain it, relative to the folder. */
  readonly path: string;
  readonly code: string;

  constructor(path: string, cause: unknown) {
    const code = cause instanceof UnusableListError ? cause.message : errnoOf(cause);
    const why = cause instanceof UnusableListError ? `cannot be used: ${code}` : `cannot be read (${code})`;
    super(`the checksum file ${path === '' ? 'of the folder' : path} ${why}`, { cause });
    this.path = path;
    this.code = code;
  }
}

/** @throws {UnreadableChecksumError} with the checksum file's path, if its content is unusable */
export function usable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof UnusableListError ? new UnreadableChecksumError(path, error) : error;
  }
}

/**
 * Returns why a file with an unreadable checksum is not sent. If the machine is at its limits, the checksum is not to
 * blame.
 */
export function checksumFailure({ message, code, cause }: UnreadableChecksumError): Failure {
  const ofMachine = code === 'EIO' ? null : failureOfMachine(cause);
  if (ofMachine !== null) return ofMachine;
  const cure =
    cause instanceof FileUnreadableError && isRefusal(code)
      ? `remove it, or let dropcast read it: ${cause.message}`
      : cause instanceof UnusableListError
        ? 'correct it, or remove it'
        : 'copy it again, or remove it';
  return {
    kind: 'mismatch',
    code: 'checksum_unreadable',
    message: `${message}, so dropcast cannot tell whether the file is what its sender sent: ${cure}; dropcast then continues`,
  };
}
