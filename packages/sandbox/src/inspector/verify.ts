import { ApiError } from '../http/api-error.ts';
import type { Journal } from '../http/journal.ts';
import { mistakesAsText } from '../http/input.ts';
import type { InspectedRequest } from './details.ts';
import { verification, type Verification } from './expectation.ts';
import { judge } from './judged.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { reportOf } from './report.ts';

/** Expectations do not hold. The message is the whole report. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError';
  readonly outcome: Outcome;

  /** @param outcome that is unmet or broken */
  constructor(outcome: Outcome) {
    super(reportOf(outcome));
    this.outcome = outcome;
  }
}

/** Which requests a journal has. */
export type Extent = Pick<Journal, 'forgotten' | 'cleared' | 'lastNumber'>;

/**
 * Pure: whether these requests are as expected.
 * @param extent of the journal that they are from
 * @throws ApiError 409 if some are meant that it does not have
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

/** Pure: why the journal cannot tell, in a sentence; undefined if it has all requests that are meant. */
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
 * As `verified`, for a program's own object. @throws ExpectationError, ApiError, TypeError that names each mistake and
 * its place
 */
export function verify(given: Verification, journal: Pick<Journal, 'inspected'> & Extent): void {
  const { data, error } = verification.safeParse(given);
  if (error) throw new TypeError(mistakesAsText(error, 'expectations'));
  const outcome = verified(data, journal.inspected(), journal);
  if (outcome.state !== 'met') throw new ExpectationError(outcome);
}
