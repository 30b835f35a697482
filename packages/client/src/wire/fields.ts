import * as z from 'zod/mini';

import { wholeWords } from '../transport/answer-body.ts';
import { orMissing } from './or-missing.ts';
import { textWithin } from './text-within.ts';

// Fields as the service sends them, read as tolerantly as api-spec.md leaves them open: an optional field of a wrong
// type counts as missing. Every length has a limit.

const mostTags = 1000;
/** Characters of an address. Signed ones have 1 to 2 KiB; servers refuse more than 8 KiB. */
export const longestAddress = 8192;
/** Characters of any other text. */
const longestText = 65_536;

/** Without control characters and lone surrogates: neither an address nor a ledger returns those as they were. */
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

/** An object whose inside the specification does not show. */
export const Settings = orMissing(
  z.custom<Readonly<Record<string, unknown>>>(
    (settings) => typeof settings === 'object' && settings !== null && !Array.isArray(settings),
  ),
);

const Sentence = textWithin(1, Infinity);

/** Why something failed: a text, or an object with a `message`. */
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
