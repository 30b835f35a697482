import * as z from 'zod/mini';

import { textWithin } from './text-within.ts';

/** A known word, or one that the service adds later. Written so that editors offer the known ones. */
export type OpenWord<Word extends string> = Word | (string & {});

/** Characters. */
const longestWord = 100;

/**
 * A word of the service. White space around it does not count, and a word that is known is known in any letters:
 * `Ready` taken for another word than `ready` would be waited for without end. A word that is not known is kept as it
 * was sent.
 */
export function oneOf<Word extends string>(...known: readonly Word[]): z.ZodMiniType<OpenWord<Word>> {
  const spelling = new Map(known.map((word) => [word.toLowerCase(), word]));
  return z.pipe(
    textWithin(0, longestWord).check(
      z.trim(),
      z.refine((word) => word !== ''),
    ),
    z.transform((word: string) => spelling.get(word.toLowerCase()) ?? word),
  );
}
