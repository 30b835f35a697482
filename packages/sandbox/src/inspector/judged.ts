import { isAboutFiles } from '../http/operations.ts';
import { isoTime } from '../http/wire.ts';
import type { InspectedRequest } from './details.ts';
import { referencesIn, type Expectations } from './expectation.ts';
import { differencesFrom, isUnknown, mayStillFit, weightOf, type Matcher } from './matcher.ts';

/**
 * A request checked against all matchers of some expectations: everything needed to decide whether the expectations
 * hold.
 */
export interface Judged {
  readonly number: number;
  /** Line for reports: `#3 12:00:01.250 POST /v1/videos → 201`. */
  readonly line: string;
  /** Whether the request matches, by matcher position in `matchersOf`. */
  readonly fits: readonly boolean[];
  /** Whether the journal no longer knows if the request matches, by the same positions. */
  readonly unknown: readonly boolean[];
  /** The request's differences from each expectation's matcher; empty unless it almost matches. */
  readonly misses: readonly (readonly string[])[];
  /** Whether the answer may still make the request match something. */
  readonly isUndecided: boolean;
  /** Whether it is a read of media, thumbnails or players, which browsers do on their own. */
  readonly isAboutFiles: boolean;
}

/** Returns every matcher: first the expectations' own, then those in references, in the order of `referencesIn`. */
export function matchersOf({ expectations }: Expectations): Matcher[] {
  const referred = expectations.flatMap((expectation) => referencesIn(expectation).map(([, reference]) => reference));
  return [
    ...expectations.map(({ request }) => request),
    ...referred.filter((reference) => typeof reference !== 'string'),
  ];
}

/** Checks a request against the matchers. Pure. @param isBrief omits the differences */
export function judge(expectations: Expectations, request: InspectedRequest, isBrief = false): Judged {
  const matchers = matchersOf(expectations);
  const differences = matchers.map((matcher) => differencesFrom(matcher, request));
  const own = isBrief ? [] : differences.slice(0, expectations.expectations.length);
  return {
    number: request.number,
    line: lineOf(request),
    fits: differences.map(({ length }) => length === 0),
    unknown: matchers.map((matcher) => isUnknown(matcher, request)),
    misses: own.map((each, index) => (isNear(each, matchers[index]) ? each.slice(0, MOST_DIFFERENCES) : [])),
    isUndecided: matchers.some((matcher) => mayStillFit(matcher, request)),
    isAboutFiles: isAboutFiles(request.path),
  };
}

/** Returns whether a request matches in part but not in full. */
function isNear(differences: readonly string[], matcher: Matcher | undefined): boolean {
  return matcher !== undefined && differences.length > 0 && differences.length < weightOf(matcher);
}

const MOST_DIFFERENCES = 5;

function lineOf({ number, atMs, method, path, query, status, durationMs, fault }: InspectedRequest): string {
  const answer = status !== 0 ? String(status) : durationMs === null ? 'under way' : 'no answer';
  const time = isoTime(atMs).slice(11, 23);
  return `#${number} ${time} ${method} ${path}${query === '' ? '' : `?${query}`} → ${answer}${fault === null ? '' : ` (fault ${fault})`}`;
}
