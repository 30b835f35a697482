import { referencesIn, type Expectation, type Expectations, type Reference } from './expectation.ts';
import type { Judged } from './judged.ts';
import type { Matcher } from './matcher.ts';

/** The result of checking expectations against the requests so far. */
export interface Outcome {
  /** Met: all expectations hold. Broken: no further request can make them hold. */
  readonly state: State;
  readonly expectations: readonly ExpectationOutcome[];
  /** With `only`: requests that match no expectation. */
  readonly unexpected: readonly Judged[];
}

export type State = 'met' | 'unmet' | 'broken';

export interface ExpectationOutcome {
  readonly name: string;
  readonly expectation: Expectation;
  readonly state: State;
  /** The matching requests that count. */
  readonly matched: readonly Judged[];
  /** Why the expectation is not met, in sentences. */
  readonly problems: readonly string[];
  /** Numbers of the requests that broke the expectation. */
  readonly brokenBy: readonly number[];
  /** Requests that almost match, the closest first. */
  readonly nearest: readonly Miss[];
}

export interface Miss {
  readonly request: Judged;
  readonly differences: readonly string[];
}

/** Checks whether the expectations hold. Pure. @param requests in order of arrival */
export function outcomeOf(expectations: Expectations, requests: readonly Judged[]): Outcome {
  const find = finder(expectations, requests);
  const outcomes = expectations.expectations.map((_each, index) =>
    outcomeOfOne(expectations, index, { requests, find }),
  );
  const isOther = ({ fits, unknown, isUndecided, isAboutFiles }: Judged) =>
    !isUndecided && !isAboutFiles && !fits.includes(true) && !unknown.includes(true);
  const unexpected = expectations.only === true ? requests.filter(isOther) : [];
  return {
    state: worst([...outcomes.map(({ state }) => state), unexpected.length > 0 ? 'broken' : 'met']),
    expectations: outcomes,
    unexpected,
  };
}

function worst(states: readonly State[]): State {
  return (['broken', 'unmet'] as const).find((state) => states.includes(state)) ?? 'met';
}

/** Returns the expectation's name for reports: its own name, or its position. */
export function nameOf({ name }: Expectation, index: number): string {
  return name === undefined ? `expectation ${index + 1}` : JSON.stringify(name);
}

/** Finds the requests that a reference selects. */
type Find = (reference: Reference) => Judged[];

function finder(all: Expectations, requests: readonly Judged[]): Find {
  const positionOf = positions(all);
  return (reference) => requests.filter(({ fits }) => fits[positionOf(reference)] === true);
}

/** Returns a function that finds the position of a reference's matcher in `matchersOf`. */
function positions({ expectations }: Expectations): (reference: Reference) => number {
  const inline = expectations
    .flatMap((each) => referencesIn(each).map(([, reference]) => reference))
    .filter((reference): reference is Matcher => typeof reference !== 'string');
  return (reference) =>
    typeof reference === 'string'
      ? expectations.findIndex(({ name }) => name === reference)
      : expectations.length + inline.indexOf(reference);
}

interface World {
  readonly requests: readonly Judged[];
  readonly find: Find;
}

interface Problem {
  readonly says: string;
  /** Empty if later requests may solve the problem. */
  readonly brokenBy: readonly number[];
}

function outcomeOfOne(all: Expectations, index: number, { requests, find }: World): ExpectationOutcome {
  const expectation = all.expectations[index] ?? { request: {} };
  const fitting = requests.filter(({ fits }) => fits[index] === true);
  const { within, problems: ofWindow } = windowOf(expectation, find);
  const matched = fitting.filter(within);
  const problems = [
    ...ofWindow,
    ...countProblems(expectation, matched),
    ...orderProblems(expectation, matched, find),
    ...unknownProblems(all, index, { requests, matched }),
  ];
  const brokenBy = [...new Set(problems.flatMap((problem) => problem.brokenBy))].toSorted((one, other) => one - other);
  return {
    name: nameOf(expectation, index),
    expectation,
    state: brokenBy.length > 0 ? 'broken' : problems.length > 0 ? 'unmet' : 'met',
    matched,
    problems: problems.map(({ says }) => says),
    brokenBy,
    nearest: problems.length === 0 ? [] : nearestOf(requests, index),
  };
}

/** Reports requests that may or may not match, so that no expectation holds by chance. */
function unknownProblems(
  all: Expectations,
  index: number,
  { requests, matched }: { readonly requests: readonly Judged[]; readonly matched: readonly Judged[] },
): Problem[] {
  const expectation = all.expectations[index] ?? { request: {} };
  const references = referencesIn(expectation).map(([, reference]) => reference);
  const { least, most } = boundsOf(expectation);
  // Further matches would change nothing.
  if (most === Infinity && references.length === 0 && matched.length >= least) return [];
  const meant = [index, ...references.map(positions(all))];
  const doubtful = requests.filter(({ unknown }) => meant.some((position) => unknown[position] === true));
  if (doubtful.length === 0) return [];
  const says = `Cannot tell for ${listed(doubtful)}: the journal keeps only part of it. Check sooner, or expect less of headers and bodies.`;
  return [{ says, brokenBy: [] }];
}

/** Selects the requests that count: after the first match of `after`, and before the next match of `before`. */
function windowOf({ within }: Expectation, find: Find): { within: (request: Judged) => boolean; problems: Problem[] } {
  if (within === undefined) return { within: () => true, problems: [] };
  const { after, before } = within;
  const start = after === undefined ? 0 : find(after)[0]?.number;
  if (start === undefined)
    return { within: () => false, problems: [{ says: `Nothing counts yet: ${missing(after)}.`, brokenBy: [] }] };
  const end = before === undefined ? Infinity : find(before).find(({ number }) => number > start)?.number;
  const isOpen = end === undefined;
  return {
    within: ({ number }) => number > start && number < (end ?? Infinity),
    problems: isOpen
      ? [
          {
            says: `It is not over yet: ${missing(before)}${after === undefined ? '' : ` after #${start}`}.`,
            brokenBy: [],
          },
        ]
      : [],
  };
}

/** Returns how many requests are expected, at least and at most. */
export function boundsOf({ exactly, at_least: least, at_most: most, never }: Expectation): {
  least: number;
  most: number;
} {
  if (never === true) return { least: 0, most: 0 };
  if (exactly !== undefined) return { least: exactly, most: exactly };
  return { least: least ?? (most === undefined ? 1 : 0), most: most ?? Infinity };
}

function countProblems(expectation: Expectation, matched: readonly Judged[]): Problem[] {
  const { least, most } = boundsOf(expectation);
  const count = matched.length;
  if (count >= least && count <= most) return [];
  const says = `Expected ${countWords(expectation)}, but ${count === 0 ? 'none' : count} came.`;
  return [{ says, brokenBy: matched.slice(most === Infinity ? count : most).map(({ number }) => number) }];
}

/** Describes the expected count, like `exactly 1 request`. */
export function countWords(expectation: Expectation): string {
  const { least, most } = boundsOf(expectation);
  const requests = (count: number) => `${count} ${count === 1 ? 'request' : 'requests'}`;
  if (most === 0) return 'no request';
  if (least === most) return `exactly ${requests(least)}`;
  if (most === Infinity) return `at least ${requests(least)}`;
  return least === 0 ? `at most ${requests(most)}` : `${least} to ${requests(most)}`;
}

function orderProblems(expectation: Expectation, matched: readonly Judged[], find: Find): Problem[] {
  const { before = expectation.between?.[1], after = expectation.between?.[0] } = expectation;
  return [
    ...(after === undefined ? [] : afterProblems(matched, after, find)),
    ...(before === undefined ? [] : beforeProblems(expectation, matched, { before, find })),
  ];
}

function afterProblems(matched: readonly Judged[], after: Reference, find: Find): Problem[] {
  const [first] = find(after);
  const early = matched.filter(({ number }) => first === undefined || number < first.number);
  if (early.length > 0)
    return [
      {
        says: `Must come after ${wordsOf(after)}, but ${listed(early)} came before ${first ? `it (#${first.number})` : 'any such request'}.`,
        brokenBy: numbersOf(early),
      },
    ];
  return first === undefined
    ? [{ says: `Must come after ${wordsOf(after)}, but ${missing(after)} yet.`, brokenBy: [] }]
    : [];
}

function beforeProblems(
  expectation: Expectation,
  matched: readonly Judged[],
  { before, find }: { before: Reference; find: Find },
): Problem[] {
  const [first] = find(before);
  if (first === undefined)
    return [{ says: `Must come before ${wordsOf(before)}, but ${missing(before)} yet.`, brokenBy: [] }];
  const late = matched.filter(({ number }) => number > first.number);
  if (late.length > 0)
    return [
      {
        says: `Must come before ${wordsOf(before)} (#${first.number}), but ${listed(late)} came after it.`,
        brokenBy: numbersOf(late),
      },
    ];
  const { least } = boundsOf(expectation);
  if (matched.length >= least) return [];
  return [
    {
      says: `Must come before ${wordsOf(before)}, which came as #${first.number} while ${matched.length === 0 ? 'none' : `only ${matched.length}`} had come.`,
      brokenBy: [first.number],
    },
  ];
}

function numbersOf(requests: readonly Judged[]): number[] {
  return requests.map(({ number }) => number);
}

function missing(reference: Reference | undefined): string {
  return `no request has matched ${wordsOf(reference)}`;
}

/** Describes a reference: a name in quotes, or the matcher as JSON. */
function wordsOf(reference: Reference | undefined): string {
  return JSON.stringify(reference);
}

/** Lists request numbers, like `#3, #4 and 5 more`. */
export function listed(requests: readonly Pick<Judged, 'number'>[]): string {
  const shown = requests.slice(0, MOST_LISTED).map(({ number }) => `#${number}`);
  const rest = requests.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}

const MOST_LISTED = 5;

function nearestOf(requests: readonly Judged[], index: number): Miss[] {
  return requests
    .map((request) => ({ request, differences: request.misses[index] ?? [] }))
    .filter(({ differences }) => differences.length > 0)
    .toSorted(
      (one, other) => one.differences.length - other.differences.length || other.request.number - one.request.number,
    )
    .slice(0, MOST_NEAREST);
}

const MOST_NEAREST = 3;
