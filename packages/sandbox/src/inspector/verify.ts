import { ApiError } from '../http/api-error.ts';
import type { Journal } from '../http/journal.ts';
import { jsonBody, mistakesAsText, type Endpoint } from '../http/input.ts';
import type { InspectedRequest } from './details.ts';
import { verification, type Verification } from './expectation.ts';
import { lineOf, outcomeOf, reportOf, type ExpectationOutcome, type Outcome } from './outcome.ts';

/** Thrown when expectations do not hold. The message is the whole report. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError';
  readonly outcome: Outcome;

  /** @param outcome an outcome that is not met */
  constructor(outcome: Outcome) {
    super(reportOf(outcome));
    this.outcome = outcome;
  }
}

/** Describes which requests a journal still has. */
type Extent = Pick<Journal, 'forgotten' | 'cleared' | 'lastNumber'>;

/**
 * Checks requests against expectations. Pure.
 * @param extent of the journal that holds the requests
 * @throws ApiError 409 if the journal lacks some of the requests in question
 */
export function verified(expected: Verification, requests: readonly InspectedRequest[], extent: Extent): Outcome {
  const { after = 0 } = expected;
  const missing = missingRequests(expected, extent);
  if (missing !== undefined) throw new ApiError('conflict', missing);
  return outcomeOf(
    expected,
    requests.filter(({ number }) => number > after),
  );
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

/**
 * Like `verified`, for an object from a program. @throws ExpectationError, ApiError, or a TypeError that names each
 * mistake and its place
 */
export function verify(given: Verification, journal: Pick<Journal, 'inspected'> & Extent): void {
  const { data, error } = verification.safeParse(given);
  if (error) throw new TypeError(mistakesAsText(error, 'expectations'));
  const outcome = verified(data, journal.inspected(), journal);
  if (!outcome.isMet) throw new ExpectationError(outcome);
}

/** Endpoint that checks which requests arrived, for tests in other programs. A 422 carries the whole report as text. */
export function verifyEndpoint(journal: Journal): Endpoint {
  return {
    method: 'POST',
    path: '/_sandbox/verify',
    says: 'Checks the requests so far: {"expectations": [{"request": {"operation": "videos.create"}, "exactly": 1}]}. 422 with a report if they are different.',
    handler: async (context) => {
      const outcome = verified(await jsonBody(context.req.raw, verification), journal.inspected(), journal);
      const data = outcomeView(outcome);
      if (outcome.isMet) return context.json({ data });
      return context.json({ error: { code: 'verification_failed', message: reportOf(outcome) }, data }, 422);
    },
  };
}

function outcomeView({ isMet, expectations, unexpected }: Outcome) {
  return {
    ok: isMet,
    state: stateOf(isMet),
    expectations: expectations.map(expectationView),
    unexpected: unexpected.map(requestView),
  };
}

export function stateOf(isMet: boolean): 'met' | 'unmet' {
  return isMet ? 'met' : 'unmet';
}

function expectationView({ name, matched, problems, nearest }: ExpectationOutcome) {
  return {
    name,
    state: stateOf(problems.length === 0),
    matched: matched.slice(0, MOST_SHOWN).map(({ number }) => number),
    count: matched.length,
    problems,
    nearest: nearest.map(({ request, differences }) => ({ ...requestView(request), differences })),
  };
}

const MOST_SHOWN = 1000;

function requestView(request: InspectedRequest) {
  return { number: request.number, request: lineOf(request) };
}
