import { z } from 'zod';
import { nameField } from '../http/input.ts';
import { matcher, type Matcher } from './matcher.ts';

/** How often requests must come, and when. Without a count, at least one must come. */
export interface Expectation {
  /** To refer to it, and in reports. Unique. */
  readonly name?: string | undefined;
  /** Which requests are meant. */
  readonly request: Matcher;
  readonly exactly?: number | undefined;
  readonly at_least?: number | undefined;
  readonly at_most?: number | undefined;
  /** None may come. */
  readonly never?: true | undefined;
  /** All of them must come before the first of those: the name of another expectation, or a matcher. */
  readonly before?: Reference | undefined;
  /** All of them must come after the first of those. */
  readonly after?: Reference | undefined;
  /** All of them must come after the first of the one, and before the first of the other. */
  readonly between?: readonly [Reference, Reference] | undefined;
  /** Only those that come after the first of `after`, and before the next of `before`, count. */
  readonly within?: { readonly after?: Reference | undefined; readonly before?: Reference | undefined } | undefined;
}

export type Reference = string | Matcher;

/** The expectations on all requests. */
export interface Expectations {
  readonly expectations: readonly Expectation[];
  /** No other requests may come. Reads of media, thumbnails and players do not count. Default false. */
  readonly only?: boolean | undefined;
}

/** What must hold for the requests so far. */
export interface Verification extends Expectations {
  /** Only requests with higher numbers than this. */
  readonly after?: number | undefined;
}

const times = 'must be a whole number from 0 to 100000';
const count = z.int(times).min(0, times).max(100_000, times);

/** A matcher's own mistakes, with their paths: a union would only say that neither fits. */
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
    between: z.tuple([reference, reference], 'must be a list of two').optional(),
    within: z.strictObject({ after: reference.optional(), before: reference.optional() }).optional(),
  })
  .superRefine((given, context) => {
    for (const message of contradictionsIn(given)) context.addIssue({ code: 'custom', message });
  });

function contradictionsIn({
  exactly,
  at_least: least,
  at_most: most,
  never,
  before,
  after,
  between,
  within,
}: Expectation): string[] {
  const isRange = least !== undefined || most !== undefined;
  const isOrdered = before !== undefined || after !== undefined || between !== undefined;
  return [
    ...([exactly !== undefined, isRange, never !== undefined].filter(Boolean).length > 1
      ? ['must have either exactly, or at_least and at_most, or never']
      : []),
    ...(least !== undefined && most !== undefined && least > most ? ['at_least must not be above at_most'] : []),
    ...(never !== undefined && isOrdered ? ['never goes with within, not with before, after or between'] : []),
    ...(between !== undefined && (before !== undefined || after !== undefined)
      ? ['must have either between, or before and after']
      : []),
    ...(within !== undefined && within.after === undefined && within.before === undefined
      ? ['within must have after or before']
      : []),
  ];
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

/** Every reference in an expectation, with its path. */
export function referencesIn({
  before,
  after,
  between,
  within,
}: Expectation): [path: (string | number)[], reference: Reference][] {
  const all: [(string | number)[], Reference | undefined][] = [
    [['before'], before],
    [['after'], after],
    [['between', 0], between?.[0]],
    [['between', 1], between?.[1]],
    [['within', 'after'], within?.after],
    [['within', 'before'], within?.before],
  ];
  return all.filter((pair): pair is [(string | number)[], Reference] => pair[1] !== undefined);
}
