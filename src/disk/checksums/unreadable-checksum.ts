import { errnoOf } from '../errno.ts';
import { failureOfMachine } from '../../pipeline/file/failure.ts';
import type { Failure } from '../../pipeline/file/failure.ts';

/** Thrown when a checksum file is there and cannot be read: it may be about the file, and say that it is another one. */
export class UnreadableChecksumError extends Error {
  override readonly name = 'UnreadableChecksumError';
  /** Of the checksum file, or of the directory that it may be in, relative to the folder. */
  readonly path: string;
  readonly code: string;

  constructor(path: string, cause: unknown) {
    const code = errnoOf(cause) ?? (cause instanceof Error ? cause.message : String(cause));
    super(`the checksum file ${path === '' ? 'of the folder' : path} cannot be read (${code})`, { cause });
    this.path = path;
    this.code = code;
  }
}

/** Why a file is not sent whose checksum cannot be read. A machine that is at its limits is no fault of that checksum. */
export function checksumFailure({ message, code, cause }: UnreadableChecksumError): Failure {
  const ofMachine = code === 'EIO' ? null : failureOfMachine(cause);
  if (ofMachine !== null) return ofMachine;
  const cure =
    code === 'EACCES' || code === 'EPERM'
      ? 'give the user that dropcast runs as read access to it, or remove it'
      : 'copy it again, or remove it';
  return {
    kind: 'mismatch',
    code: 'checksum_unreadable',
    message: `${message}, so nobody knows whether the file is what its sender sent: ${cure}; dropcast then continues`,
  };
}
