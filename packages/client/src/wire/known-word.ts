import { z } from 'zod';

/** Characters. */
const longestWord = 100;

/**
 * A word of the service. White space around it does not count, and a word that is known is known in any letters: `Ready` taken for
 * another word than `ready` would be waited for without end. A word that is not known is kept as it was sent.
 */
export function oneOf(...known: readonly string[]): z.ZodType<string> {
  const spelling = new Map(known.map((word) => [word.toLowerCase(), word]));
  return z
    .string()
    .max(longestWord)
    .trim()
    .min(1)
    .transform((word) => spelling.get(word.toLowerCase()) ?? word);
}
