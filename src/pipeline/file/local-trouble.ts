import { folderAway } from '../pause.ts';
import type { Failure } from './failure.ts';
import type { ReasonCode } from './reasons.ts';

/**
 * Whether a failure ends as soon as the local file can be read again at its place: the file or its folder was missing
 * or unreadable. A bad sector (EIO) is not such a failure, because the file is there and reading it fails again.
 */
export function isOfLocalFile({ code, because = code }: Failure): boolean {
  return localFileCodes.includes(because);
}

/** The codes of such failures, by which the ledger selects. */
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
