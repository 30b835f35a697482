import * as z from 'zod/mini';
import { catch as otherwise } from 'zod/mini';

/** A known word, or one that the service adds later. The type lets editors suggest the known ones. */
export type OpenWord<Word extends string> = Word | (string & {});

/** Maximum length of a word, in characters. */
const longestWord = 100;

/** Makes a field optional: absent, null or of the wrong type, it reads as undefined. */
export function orMissing<T>(schema: z.ZodMiniType<T>): z.ZodMiniType<T | undefined> {
  return otherwise(z.optional(schema), undefined);
}

/**
 * A string whose length is within both bounds, inclusive. The length is measured here because zod's length checks also
 * run on values that are not strings, and throw where `length` is an object.
 */
export function textWithin(least: number, most: number): z.ZodMiniType<string> {
  return z.string().check(z.refine((text) => text.length >= least && text.length <= most));
}

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
