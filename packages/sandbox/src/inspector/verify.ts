import { ApiError } from '../http/api-error.ts';
import type { Journal } from '../http/journal.ts';
import { mistakesAsText } from '../http/input.ts';
import type { InspectedRequest } from './details.ts';
import { verification, type Verification } from './expectation.ts';
import { judge } from './judged.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { reportOf } from './report.ts';

/** Thrown when expectations do not hold. The message is the whole report. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError';
  readonly outcome: Outcome;

  /** @param outcome an unmet or broken outcome */
  constructor(outcome: Outcome) {
    super(reportOf(outcome));
    this.outcome = outcome;
  }
}

/** Describes which requests a journal still has. */
export type Extent = Pick<Journal, 'forgotten' | 'cleared' | 'lastNumber'>;

/**
 * Checks requests against expectations. Pure.
 * @param extent of the journal that holds the requests
 * @throws ApiError 409 if the journal lacks some of the requests in question
 */
export function verified(expected: Verification, requests: readonly InspectedRequest[], extent: Extent): Outcome {
  const { after = 0 } = expected;
  const missing = missingRequests(expected, extent);
  if (missing !== undefined) throw new ApiError('conflict', missing);
  const judged = requests
    .filter(({ number }) => number > after)
    .map((request, index) => judge(expected, request, index >= MOST_WITH_MISSES));
  return outcomeOf(expected, judged);
}

/** Explains in a sentence why the journal cannot decide. Pure. @returns undefined if it has all requests in question */
export function missingRequests({ after }: Verification, extent: Extent): string | undefined {
  const { forgotten, cleared, lastNumber } = extent;
  if (after !== undefined && after > lastNumber)
    return `"after" is ${after}, but the latest request is #${lastNumber}: numbers restart with the sandbox.`;
  if (after !== undefined && after > 0 && after < cleared)
    return `The journal was cleared at #${cleared}: earlier requests are no longer known.`;
  if ((after ?? 0) < forgotten)
    return `The journal no longer has the requests up to #${forgotten}. Check sooner, or give "after".`;
  return undefined;
}

const MOST_WITH_MISSES = 10_000;

/**
 * Like `verified`, for an object from a program. @throws ExpectationError, ApiError, or a TypeError that names each
 * mistake and its place
 */
export function verify(given: Verification, journal: Pick<Journal, 'inspected'> & Extent): void {
  const { data, error } = verification.safeParse(given);
  if (error) throw new TypeError(mistakesAsText(error, 'expectations'));
  const outcome = verified(data, journal.inspected(), journal);
  if (outcome.state !== 'met') throw new ExpectationError(outcome);
}
