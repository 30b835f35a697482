import * as z from 'zod/mini';

import { textWithin } from './text-within.ts';

/** A known word, or one that the service adds later. The type lets editors suggest the known ones. */
export type OpenWord<Word extends string> = Word | (string & {});

/** Maximum length of a word, in characters. */
const longestWord = 100;

/**
 * Reads an enumerated word. Surrounding white space is ignored, and known words match in any letter case: `Ready` not
 * recognised as `ready` would be waited for forever. Unknown words keep their spelling.
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
