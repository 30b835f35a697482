/** The errno name of a failed system call, like `ENOENT`; undefined for anything else that was thrown. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
