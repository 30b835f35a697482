import { folderAway } from '../pause.ts';
import type { Failure } from './failure.ts';
import type { ReasonCode } from './reasons.ts';

/**
 * Whether a failure is over once the local file is readable at its path again, because the file or its folder was
 * missing or unreadable. A bad sector (EIO) does not count: the file is there, and reading it would fail again.
 */
export function isOfLocalFile({ code, because = code }: Failure): boolean {
  return localFileCodes.includes(because);
}

/** The codes of failures that match `isOfLocalFile`, for selection in the ledger. */
export const localFileCodes: readonly string[] = [
  folderAway,
  ...(['unreadable', 'closed_directory'] satisfies ReasonCode[]),
  'vanished',
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'ESTALE',
  'ENOTCONN',
  'EHOSTDOWN',
];
