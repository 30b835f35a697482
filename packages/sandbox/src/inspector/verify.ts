import type { z } from 'zod';
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

/** Pure: whether these requests are as expected. */
export function verified(expected: Verification, requests: readonly InspectedRequest[]): Outcome {
  const { after = 0 } = expected;
  const judged = requests
    .filter(({ number }) => number > after)
    .map((request, index) => judge(expected, request, index >= MOST_WITH_MISSES));
  return outcomeOf(expected, judged);
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

/** As `verified`, for a program's own object. @throws TypeError, ExpectationError */
export function verify(given: Verification, requests: readonly InspectedRequest[]): void {
  requireMet(verified(expectationsFrom(verification, given), requests));
}
