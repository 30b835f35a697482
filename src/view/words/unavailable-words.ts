import { LedgerUnavailableError, OutcomeUnknownError } from '../../pipeline/file/store-errors.ts';

/**
 * The error for a question that only the database can answer, while it is away. @param why a sentence without its full
 * stop; null: not known yet
 */
export function noAnswer(why: string | null): LedgerUnavailableError {
  const sentence = `${why ?? 'PostgreSQL does not answer at the moment'}. Repeat this once it answers`;
  return new LedgerUnavailableError('away', { sentence });
}

/** The response to a command that would change something while the database is away. */
export function nothingChanged(why: string): string {
  return `${why}. Nothing was changed: repeat this once it answers.`;
}

/** Describes an unavailable ledger, which is not a bug. @returns null for any other error */
export function unavailableWords(error: unknown): string | null {
  return error instanceof LedgerUnavailableError ? `${error.message}.` : null;
}

/** Whether the request may have been carried out despite the error. */
export function mayBeDone(error: unknown): boolean {
  return error instanceof OutcomeUnknownError;
}
