import { isAboutFiles } from '../http/operations.ts';
import { isoTime } from '../http/wire.ts';
import type { InspectedRequest } from './details.ts';
import { referencesIn, type Expectation, type Reference, type Verification } from './expectation.ts';
import { fitOf, isUnderWay, weightOf, type Fit, type Matcher } from './matcher.ts';

/** The result of checking expectations against the requests so far. */
export interface Outcome {
  readonly isMet: boolean;
  readonly expectations: readonly ExpectationOutcome[];
  /** With `only`: requests that match no expectation and no reference. */
  readonly unexpected: readonly InspectedRequest[];
}

export interface ExpectationOutcome {
  readonly name: string;
  readonly expectation: Expectation;
  /** The matching requests that count. */
  readonly matched: readonly InspectedRequest[];
  /** Why the expectation does not hold, in sentences; empty if it does. */
  readonly problems: readonly string[];
  /** Requests that almost match, the closest first. */
  readonly nearest: readonly Miss[];
}

interface Miss {
  readonly request: InspectedRequest;
  readonly differences: readonly string[];
}

/** Checks whether the expectations hold. Pure. @param requests in order of arrival */
export function outcomeOf({ expectations, only }: Verification, requests: readonly InspectedRequest[]): Outcome {
  const known = new Map<Matcher, readonly Fit[]>();
  const fitsOf = (reference: Reference): readonly Fit[] => {
    const matcher =
      typeof reference === 'string' ? expectations.find(({ name }) => name === reference)?.request : reference;
    if (matcher === undefined) return [];
    const fits = known.get(matcher) ?? requests.map((request) => fitOf(matcher, request));
    known.set(matcher, fits);
    return fits;
  };
  const checking = { requests, fitsOf };
  const outcomes = expectations.map((expectation, index) => outcomeOfOne(expectation, index, checking));
  const all = [...known.values()];
  const isOther = (request: InspectedRequest, index: number) =>
    !isUnderWay(request) &&
    !isAboutFiles(request.path) &&
    all.every((fits) => (fits[index]?.differences.length ?? 1) > 0 && fits[index]?.isUnknown !== true);
  const unexpected = only === true ? requests.filter(isOther) : [];
  const isMet = unexpected.length === 0 && outcomes.every(({ problems }) => problems.length === 0);
  return { isMet, expectations: outcomes, unexpected };
}

interface Checking {
  readonly requests: readonly InspectedRequest[];
  readonly fitsOf: (reference: Reference) => readonly Fit[];
}

function outcomeOfOne(expectation: Expectation, index: number, checking: Checking): ExpectationOutcome {
  const [matched, ofWindow] = countedOf(expectation, checking);
  const problems = [
    ...ofWindow,
    ...countProblems(expectation, matched),
    ...orderProblems(expectation, matched, checking),
    ...unknownProblems(expectation, matched, checking),
  ];
  return {
    name: expectation.name === undefined ? `expectation ${index + 1}` : JSON.stringify(expectation.name),
    expectation,
    matched,
    problems,
    nearest: problems.length === 0 ? [] : nearestOf(expectation.request, checking),
  };
}

function matchesOf(reference: Reference, { requests, fitsOf }: Checking): InspectedRequest[] {
  const fits = fitsOf(reference);
  return requests.filter((_request, index) => fits[index]?.differences.length === 0);
}

/** Returns the matches that count: those after the first match of `after`, and before the next match of `before`. */
function countedOf(
  { request, within }: Expectation,
  checking: Checking,
): [matched: InspectedRequest[], problems: string[]] {
  const { after, before } = within ?? {};
  const start = after === undefined ? 0 : matchesOf(after, checking)[0]?.number;
  if (start === undefined) return [[], [`Nothing counts yet: ${missing(after)}.`]];
  const end =
    before === undefined ? Infinity : matchesOf(before, checking).find(({ number }) => number > start)?.number;
  const matched = matchesOf(request, checking).filter(({ number }) => number > start && number < (end ?? Infinity));
  const since = after === undefined ? '' : ` after #${start}`;
  return [matched, end === undefined ? [`It is not over yet: ${missing(before)}${since}.`] : []];
}

/** Returns how many requests are expected, at least and at most. */
function boundsOf({ exactly, at_least: least, at_most: most, never }: Expectation): { least: number; most: number } {
  if (never === true) return { least: 0, most: 0 };
  if (exactly !== undefined) return { least: exactly, most: exactly };
  return { least: least ?? (most === undefined ? 1 : 0), most: most ?? Infinity };
}

function countProblems(expectation: Expectation, { length: count }: readonly InspectedRequest[]): string[] {
  const { least, most } = boundsOf(expectation);
  if (count >= least && count <= most) return [];
  return [`Expected ${countWords(expectation)}, but ${count === 0 ? 'none' : count} came.`];
}

/** Describes the expected count, like `exactly 1 request`. */
function countWords(expectation: Expectation): string {
  const { least, most } = boundsOf(expectation);
  const requests = (count: number) => `${count} ${count === 1 ? 'request' : 'requests'}`;
  if (most === 0) return 'no request';
  if (least === most) return `exactly ${requests(least)}`;
  if (most === Infinity) return `at least ${requests(least)}`;
  return least === 0 ? `at most ${requests(most)}` : `${least} to ${requests(most)}`;
}

function orderProblems(
  { before, after }: Expectation,
  matched: readonly InspectedRequest[],
  checking: Checking,
): string[] {
  const problems: string[] = [];
  const compare = (word: 'before' | 'after', reference: Reference): void => {
    const [first] = matchesOf(reference, checking);
    const wanted = `Must come ${word} ${JSON.stringify(reference)}`;
    const isWrong = ({ number }: InspectedRequest) =>
      word === 'after' ? number < (first?.number ?? Infinity) : number > (first?.number ?? Infinity);
    const wrong = matched.filter(isWrong);
    if (first === undefined) problems.push(`${wanted}, but ${missing(reference)} yet.`);
    else if (wrong.length > 0) problems.push(`${wanted} (#${first.number}), but ${listed(wrong)} did not.`);
  };
  if (after !== undefined) compare('after', after);
  if (before !== undefined) compare('before', before);
  return problems;
}

/** Reports requests that may or may not match, so that no expectation holds by chance. */
function unknownProblems(
  expectation: Expectation,
  matched: readonly InspectedRequest[],
  { requests, fitsOf }: Checking,
): string[] {
  const references = referencesIn(expectation).map(([, reference]) => reference);
  const { least, most } = boundsOf(expectation);
  // Further matches would change nothing.
  if (most === Infinity && references.length === 0 && matched.length >= least) return [];
  const meant = [expectation.request, ...references].map(fitsOf);
  const doubtful = requests.filter((_request, index) => meant.some((fits) => fits[index]?.isUnknown === true));
  if (doubtful.length === 0) return [];
  return [
    `Cannot tell for ${listed(doubtful)}: the journal keeps only part of it. Check sooner, or expect less of headers and bodies.`,
  ];
}

function missing(reference: Reference | undefined): string {
  return `no request has matched ${JSON.stringify(reference)}`;
}

/** Lists request numbers, like `#3, #4 and 5 more`. */
function listed(requests: readonly InspectedRequest[]): string {
  const shown = requests.slice(0, MOST_LISTED).map(({ number }) => `#${number}`);
  const rest = requests.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}

function nearestOf(matcher: Matcher, { requests, fitsOf }: Checking): Miss[] {
  const fits = fitsOf(matcher);
  return requests
    .map((request, index) => ({ request, differences: fits[index]?.differences ?? [] }))
    .filter(({ differences }) => differences.length > 0 && differences.length < weightOf(matcher))
    .toSorted(
      (one, other) => one.differences.length - other.differences.length || other.request.number - one.request.number,
    )
    .slice(0, MOST_NEAREST);
}

const MOST_LISTED = 10;
const MOST_NEAREST = 3;
const MOST_DIFFERENCES = 5;

/** Describes in lines of text which expectations hold and which do not, for a person looking for the mistake. Pure. */
export function reportOf({ expectations, unexpected }: Outcome): string {
  const failed = expectations.filter(({ problems }) => problems.length > 0);
  const passed = expectations.filter(({ problems }) => problems.length === 0);
  const headline = [
    ...(failed.length > 0 || unexpected.length === 0
      ? [`${passed.length} of ${expectations.length} expectations hold`]
      : []),
    ...(unexpected.length > 0 ? [`${unexpected.length} unexpected requests came`] : []),
  ];
  return [
    `${headline.join(', and ')}.`,
    ...failed.flatMap(failedLines),
    ...(unexpected.length > 0 ? ['✗ No expectation is about these requests:'] : []),
    ...linesOf('unexpected', unexpected.map(lineOf)),
    ...passed.map(
      ({ name, matched: { length }, matched }) =>
        `✓ ${name}: ${length} matched${length === 0 ? '' : ` (${listed(matched)})`}.`,
    ),
  ].join('\n');
}

function failedLines({ name, expectation, problems, matched, nearest }: ExpectationOutcome): string[] {
  const misses = nearest.flatMap(({ request, differences }) => [
    lineOf(request),
    ...differences.slice(0, MOST_DIFFERENCES).map((one) => `  ${one}`),
  ]);
  return [
    `✗ ${name}: ${problems.join(' ')}`,
    `    wanted: ${countWords(expectation)} like ${JSON.stringify(expectation.request)}`,
    ...linesOf('matched', matched.map(lineOf)),
    ...linesOf('almost matched', misses),
    ...(matched.length === 0 && nearest.length === 0 ? ['    No request came near.'] : []),
  ];
}

function linesOf(label: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const rest = lines.length - MOST_LINES;
  const shown = lines.slice(0, MOST_LINES).map((line) => `      ${line}`);
  return [`    ${label}:`, ...shown, ...(rest > 0 ? [`      and ${rest} more`] : [])];
}

const MOST_LINES = 20;

/** Describes a request, like `#3 12:00:01.250 POST /v1/videos → 201`. */
export function lineOf(request: InspectedRequest): string {
  const { number, atMs, method, path, query, status, fault } = request;
  const answer = status !== 0 ? String(status) : isUnderWay(request) ? 'under way' : 'no answer';
  const target = query === '' ? path : `${path}?${query}`;
  return `#${number} ${isoTime(atMs).slice(11, 23)} ${method} ${target} → ${answer}${fault === null ? '' : ` (fault ${fault})`}`;
}
