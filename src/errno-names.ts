import { constants } from 'node:os';

/** Errors of file systems that Node knows no name for: it says 'Unknown system error -122' (uv.h lists those that it knows). */
const unnamed = new Map([
  [-constants.errno.EDQUOT, 'EDQUOT'],
  [-constants.errno.ESTALE, 'ESTALE'],
]);

/** The code of an error, which is an errno name if a system call failed. */
export function nameOfCode(error: Error & { readonly code: string }): string {
  return 'errno' in error ? (unnamed.get(Number(error.errno)) ?? error.code) : error.code;
}

/** Whether an error has a code at all. */
export function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}
