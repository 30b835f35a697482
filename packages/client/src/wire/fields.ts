import * as z from 'zod/mini';

import { wholeWords } from '../transport/answer-body.ts';
import { orMissing, textWithin } from './tolerant.ts';

// Response fields, read as tolerantly as api-spec.md permits: an optional field of the wrong type counts as missing.
// Every string has a maximum length.

const mostTags = 1000;
/** Maximum length of an address, in characters. Signed ones have 1 to 2 KiB; servers refuse more than 8 KiB. */
export const longestAddress = 8192;
/** Maximum length of any other string, in characters. */
const longestText = 65_536;

/**
 * An id. Control characters and lone surrogates are excluded because they do not survive a URL or the ledger unchanged.
 */
export const Id = z
  .union([z.string(), z.pipe(z.int(), z.transform(String))])
  .check(z.refine((id) => id !== '' && id !== '.' && id !== '..' && id.length <= 500 && !/[\p{Cc}\p{Cs}]/u.test(id)));
export const Text = orMissing(textWithin(0, longestText));
export const Address = orMissing(textWithin(0, longestAddress));
export const Amount = orMissing(z.number().check(z.nonnegative()));
export const Count = orMissing(z.int().check(z.nonnegative()));
export const Tags = orMissing(
  z.custom<readonly string[]>(
    (tags) => Array.isArray(tags) && tags.length <= mostTags && tags.every((tag) => typeof tag === 'string'),
  ),
);

/** An object whose content the specification does not define. */
export const Settings = orMissing(
  z.custom<Readonly<Record<string, unknown>>>(
    (settings) => typeof settings === 'object' && settings !== null && !Array.isArray(settings),
  ),
);

const Sentence = textWithin(1, Infinity);

/** The reason for a failure: a string, or an object with a `message`. */
export const Reason = orMissing(
  z.pipe(
    z.union([
      Sentence,
      z.pipe(
        z.looseObject({ message: Sentence }),
        z.transform(({ message }: { readonly message: string }) => message),
      ),
    ]),
    z.transform(wholeWords),
  ),
);
