import { z } from 'zod';

/**
 * A text of the client. assumed: the specification gives no lengths; these are generous, and NUL and broken
 * surrogate pairs are refused because no feed could carry them (XML 1.0 section 2.2).
 */
export function textField(maxCharacters: number) {
  return z
    .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string') })
    .max(maxCharacters, `must have at most ${maxCharacters} characters`)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be well-formed Unicode without NUL');
}

/** A text that must say something. */
export function nameField(maxCharacters: number) {
  return textField(maxCharacters).refine((value) => value.trim() !== '', 'must not be empty');
}
