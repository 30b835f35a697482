import { AbortedError, FileChangedError, FileUnreadableError, FileVanishedError } from '@dropcast/client';
import type { InstalledService } from '../config/installed-service.ts';
import { failureOfMachine, stopped } from '../pipeline/file/failure.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { errnoOf, hasCode, nameOfCode } from '../errno.ts';
import { shellWord } from '../shell-word.ts';
import { isRefusal } from '../read-permission.ts';
import { NotInFolderError } from './held-directory.ts';
import { NoFreeNameError } from './put-away/move-file.ts';
import { DirectoryGoneError } from './put-away/private-directory.ts';
import { FileInUseError } from './put-away/sent-file.ts';

/**
 * Classifies anything thrown while a file in a watched folder was examined, read or put away (design section 8).
 *
 * @param service the installed service that this process runs as, used to name the command that grants write access to
 *   a read-only folder; null if the process is not installed as a service
 */
export function toDiskFailure(error: unknown, service: InstalledService | null): Failure {
  if (error instanceof AbortedError) return stopped;
  if (error instanceof NotInFolderError) return { kind: 'permanent', code: 'outside_folder', message: error.message };
  const ofFile = failureOfFile(error) ?? failureOfPutAway(error);
  if (ofFile !== null) return ofFile;
  if (!isSystemError(error)) return failureOfMachine(error) ?? bug(error);
  const code = nameOfCode(error);
  if (code === 'EROFS') return { kind: 'suspended', code, message: readOnly(service) };
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'vanished', code, message: 'the file is gone' };
  return unreadable(error);
}

/**
 * Classifies an error thrown while an accepted file is read (accepted-file.ts), including during its upload.
 *
 * @returns null for any other error, which says nothing about the file
 */
export function failureOfFile(error: unknown): Failure | null {
  if (error instanceof FileUnreadableError)
    return isRefusal(error.code) ? closedFile(error.message) : unreadable(error);
  if (error instanceof FileChangedError) return { kind: 'changed', code: error.code, message: error.message };
  if (error instanceof FileVanishedError) return { kind: 'vanished', code: error.code, message: error.message };
  return null;
}

/** Classifies a failure that keeps a file from being put away for now but says nothing about the disk. */
function failureOfPutAway(error: unknown): Failure | null {
  if (error instanceof FileInUseError) return { kind: 'transient', code: 'in_use', message: error.message };
  if (error instanceof NoFreeNameError) return { kind: 'transient', code: 'no_free_name', message: error.message };
  if (error instanceof DirectoryGoneError) return { kind: 'transient', code: 'directory_gone', message: error.message };
  return null;
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && hasCode(error);
}

function bug(error: unknown): Failure {
  if (!(error instanceof Error))
    return { kind: 'bug', code: 'unknown', message: 'something other than an error was thrown' };
  return { kind: 'bug', code: errnoOf(error), message: error.message };
}

/**
 * Returns the failure of a file that dropcast may not read. Retrying would not help; the file resumes as soon as it can
 * be read. @param message includes the command that grants access
 */
export function closedFile(message: string): Failure {
  return { kind: 'permanent', code: 'unreadable', message };
}

/** Classifies an unreadable file. A bad sector affects only one file, so others continue; a stale share recovers. */
function unreadable(error: Error & { readonly code: string }): Failure {
  const { message } = error;
  const code = nameOfCode(error);
  if (code === 'outside_folder') return { kind: 'permanent', code, message };
  const ofMachine = code === 'EIO' ? null : failureOfMachine(error);
  return ofMachine ?? { kind: 'transient', code, message };
}

/** Words a put-away failure for the operator who has to change something. @param folder absolute */
export function forPutAway(failure: Failure, folder: string): Failure {
  const { code, kind } = failure;
  const message = putAwayWords[code]?.(folder, code);
  return message === undefined || (kind !== 'transient' && kind !== 'suspended') ? failure : { ...failure, message };
}

const putAwayWords: Readonly<Record<string, ((folder: string, code: string) => string) | undefined>> = {
  EACCES: mayNotWrite,
  EPERM: mayNotWrite,
  ENAMETOOLONG: () =>
    'the name is too long where the file is to go (ENAMETOOLONG): shorten the name of the file, or the template of `after_ready: move`; then dropcast moves it',
  ENOSPC: (folder) =>
    `the disk of ${folder} is full: free some space (\`df -h ${shellWord(folder)}\`); dropcast tries again within half a minute`,
  EDQUOT: (folder) =>
    `the disk quota for ${folder} is used up: free some space (\`df -h ${shellWord(folder)}\`) or raise the quota; dropcast tries again within half a minute`,
};

function mayNotWrite(_folder: string, code: string): string {
  return (
    `dropcast may not delete or move the file (${code}): give the user it runs as write access to the directory of ` +
    'the file and to the one it moves to; then dropcast continues automatically'
  );
}

/**
 * Explains a read-only folder. Under systemd, only folders that the drop-in names and that existed at the start are
 * writable (ProtectSystem=strict).
 */
function readOnly(service: InstalledService | null): string {
  const fact = 'the folder is read-only (EROFS)';
  if (service === null) return `${fact}: its files wait until they can be moved or deleted`;
  return `${fact}. The service can write only to folders that its drop-in names and that existed when it started: run \`${service.setupCommand}\`, then \`sudo systemctl restart ${service.name}\``;
}
