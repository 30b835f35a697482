import { folderAway } from '../pause.ts';
import type { Failure } from './failure.ts';
import type { ReasonCode } from './reasons.ts';

/**
 * Whether a failure ends as soon as the local file is readable at its path again: the file or its folder was missing or
 * unreadable. A bad sector (EIO) does not count, because the file is there and reading it would fail again.
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
