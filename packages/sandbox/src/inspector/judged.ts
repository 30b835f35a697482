import { isAboutFiles } from '../http/operations.ts';
import { isoTime } from '../http/wire.ts';
import type { InspectedRequest } from './details.ts';
import { referencesIn, type Expectations } from './expectation.ts';
import { differencesFrom, isUnknown, mayStillFit, weightOf, type Matcher } from './matcher.ts';

/** A request, held against all matchers of some expectations: all that is needed to say whether these hold. */
export interface Judged {
  readonly number: number;
  /** `#3 12:00:01.250 POST /v1/videos → 201`, for reports. */
  readonly line: string;
  /** Whether it fits, by the positions in `matchersOf`. */
  readonly fits: readonly boolean[];
  /** Whether it is no longer known if the request matches, by the same positions. */
  readonly unknown: readonly boolean[];
  /** How it misses the matcher of each expectation, where it comes near. */
  readonly misses: readonly (readonly string[])[];
  /** Whether an answer may still make it fit something. */
  readonly isUndecided: boolean;
  /** A read of media, thumbnails or players, which browsers do on their own. */
  readonly isAboutFiles: boolean;
}

/**
 * Every matcher: first those of the expectations themselves, then those in references, in the order of `referencesIn`.
 */
export function matchersOf({ expectations }: Expectations): Matcher[] {
  const referred = expectations.flatMap((expectation) => referencesIn(expectation).map(([, reference]) => reference));
  return [
    ...expectations.map(({ request }) => request),
    ...referred.filter((reference) => typeof reference !== 'string'),
  ];
}

/** Pure: holds a request against the matchers. @param isBrief leaves out how it misses them */
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

/** Something fits, and something does not. */
function isNear(differences: readonly string[], matcher: Matcher | undefined): boolean {
  return matcher !== undefined && differences.length > 0 && differences.length < weightOf(matcher);
}

const MOST_DIFFERENCES = 5;

function lineOf({ number, atMs, method, path, query, status, durationMs, fault }: InspectedRequest): string {
  const answer = status !== 0 ? String(status) : durationMs === null ? 'under way' : 'no answer';
  const time = isoTime(atMs).slice(11, 23);
  return `#${number} ${time} ${method} ${path}${query === '' ? '' : `?${query}`} → ${answer}${fault === null ? '' : ` (fault ${fault})`}`;
}
