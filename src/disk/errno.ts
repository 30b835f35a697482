import { hasCode, nameOfCode } from '../errno-names.ts';

/** The errno name of a failed system call, like `ENOENT`; undefined for anything else that was thrown. */
export function errnoOf(error: unknown): string | undefined {
  return hasCode(error) ? nameOfCode(error) : undefined;
}
