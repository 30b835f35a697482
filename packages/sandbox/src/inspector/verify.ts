import type { z } from 'zod';
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

/**
 * Pure: whether these requests are as expected.
 * @param forgotten the number up to which the journal had no room for requests; 0 for none
 * @throws ApiError 409 if some of them are meant
 */
export function verified(expected: Verification, requests: readonly InspectedRequest[], forgotten = 0): Outcome {
  const { after = 0 } = expected;
  if (after < forgotten) throw new ApiError('conflict', forgottenRequests(forgotten));
  const judged = requests
    .filter(({ number }) => number > after)
    .map((request, index) => judge(expected, request, index >= MOST_WITH_MISSES));
  return outcomeOf(expected, judged);
}

/** Why requests cannot be checked that the journal has dropped. */
export function forgottenRequests(last: number): string {
  return `The journal has no room any more for the requests up to #${last}. Check sooner, give "after", or register the expectations before the requests come.`;
}

const MOST_WITH_MISSES = 10_000;

/** @throws ExpectationError unless all is met */
export function requireMet(outcome: Outcome): void {
  if (outcome.state !== 'met') throw new ExpectationError(outcome);
}

/** @throws TypeError that names each mistake and its place */
export function expectationsFrom<T>(schema: z.ZodType<T>, given: unknown): T {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw new TypeError(mistakesAsText(result.error, 'expectations'));
}

/** As `verified`, for a program's own object. @throws TypeError, ExpectationError, ApiError */
export function verify(given: Verification, journal: Pick<Journal, 'inspected' | 'forgotten'>): void {
  requireMet(verified(expectationsFrom(verification, given), journal.inspected(), journal.forgotten));
}
