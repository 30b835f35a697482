import { z } from 'zod';
import { nameField } from '../http/input.ts';
import { matcher, type Matcher } from './matcher.ts';

/** How many matching requests are expected, and when. Without a count, at least one is expected. */
export interface Expectation {
  /** Unique name for references and reports. */
  readonly name?: string | undefined;
  /** Selects the expected requests. */
  readonly request: Matcher;
  readonly exactly?: number | undefined;
  readonly at_least?: number | undefined;
  readonly at_most?: number | undefined;
  /** No matching request may arrive. */
  readonly never?: true | undefined;
  /**
   * All matching requests must arrive before the first match of this reference: the name of another expectation, or a
   * matcher.
   */
  readonly before?: Reference | undefined;
  /** All matching requests must arrive after the first match of this reference. */
  readonly after?: Reference | undefined;
  /** Counts only requests after the first match of `after`, and before the next match of `before`. */
  readonly within?: { readonly after?: Reference | undefined; readonly before?: Reference | undefined } | undefined;
}

export type Reference = string | Matcher;

/** Expectations to check against the requests so far. */
export interface Verification {
  readonly expectations: readonly Expectation[];
  /** Allows no other requests, except reads of media, thumbnails and players. Default false. */
  readonly only?: boolean | undefined;
  /** Checks only requests with higher numbers than this. */
  readonly after?: number | undefined;
}

const times = 'must be a whole number from 0 to 100000';
const count = z.int(times).min(0, times).max(100_000, times);

/**
 * A name or a matcher. Reports the matcher's own mistakes with their paths: a union would report only that neither
 * variant fits.
 */
const reference = z
  .custom<Reference>(() => true)
  .superRefine((given, context) => {
    if (typeof given === 'string') return;
    for (const issue of matcher.safeParse(given).error?.issues ?? [])
      context.addIssue({
        code: 'custom',
        path: [...issue.path],
        message:
          issue.code === 'unrecognized_keys' ? `has the unknown field ${JSON.stringify(issue.keys[0])}` : issue.message,
      });
  });

const expectation = z
  .strictObject({
    name: nameField(100).optional(),
    request: matcher,
    exactly: count.optional(),
    at_least: count.optional(),
    at_most: count.optional(),
    never: z.literal(true, 'must be true, or left out').optional(),
    before: reference.optional(),
    after: reference.optional(),
    within: z.strictObject({ after: reference.optional(), before: reference.optional() }).optional(),
  })
  .superRefine((given, context) => {
    for (const message of contradictionsIn(given)) context.addIssue({ code: 'custom', message });
  });

function contradictionsIn(expectation: Expectation): string[] {
  const { exactly, at_least: least, at_most: most, never, before, after, within } = expectation;
  const counts = [exactly, never, least ?? most].filter((count) => count !== undefined);
  const contradictions = {
    'must have either exactly, or at_least and at_most, or never': counts.length > 1,
    'at_least must not be above at_most': least !== undefined && most !== undefined && least > most,
    'never goes with within, not with before or after': never === true && (before ?? after) !== undefined,
    'within must have after or before': within !== undefined && (within.after ?? within.before) === undefined,
  };
  return Object.entries(contradictions).flatMap(([message, isTrue]) => (isTrue ? [message] : []));
}

export const verification: z.ZodType<Verification, Verification> = z
  .strictObject({
    expectations: z.array(expectation, 'must be a list of expectations').max(200, 'must have at most 200 expectations'),
    only: z.boolean('must be true or false').optional(),
    after: z.int('must be the number of a request').min(0, 'must be the number of a request').optional(),
  })
  .superRefine(({ expectations, only }, context) => {
    if (expectations.length === 0 && only !== true)
      context.addIssue({
        code: 'custom',
        path: ['expectations'],
        message: 'must not be empty, unless "only" says that no request may come',
      });
    const names = expectations.map(({ name }) => name);
    for (const [index, each] of expectations.entries()) {
      const add = (path: (string | number)[], message: string) =>
        context.addIssue({ code: 'custom', path: ['expectations', index, ...path], message });
      if (each.name !== undefined && names.indexOf(each.name) !== index)
        add(['name'], 'is the name of another expectation too');
      for (const [path, name] of referencesIn(each)) {
        if (typeof name !== 'string') continue;
        if (name === each.name) add(path, 'must not refer to the expectation itself');
        else if (!names.includes(name)) add(path, `no expectation has the name ${JSON.stringify(name)}`);
      }
    }
  });

/** Returns every reference in an expectation with its path. */
export function referencesIn({ before, after, within }: Expectation): [path: string[], reference: Reference][] {
  const all: [string[], Reference | undefined][] = [
    [['before'], before],
    [['after'], after],
    [['within', 'after'], within?.after],
    [['within', 'before'], within?.before],
  ];
  return all.filter((pair): pair is [string[], Reference] => pair[1] !== undefined);
}
