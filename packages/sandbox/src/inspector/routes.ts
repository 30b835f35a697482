import type { Context } from 'hono';
import { ApiError } from '../http/api-error.ts';
import type { Endpoint } from '../http/handler.ts';
import { jsonBody, noBody } from '../http/input.ts';
import type { Services } from '../services.ts';
import { registeredExpectations, verification } from './expectation.ts';
import { TOO_MANY, type ExpectationBook } from './expectation-book.ts';
import type { Judged } from './judged.ts';
import type { ExpectationOutcome, Outcome } from './outcome.ts';
import { reportOf } from './report.ts';
import { verified } from './verify.ts';

/** For tests of other programs: what requests must have come, or must come. */
export function expectationEndpoints({
  journal,
  expectations,
}: Pick<Services, 'journal' | 'expectations'>): Endpoint[] {
  return [
    {
      method: 'POST',
      path: '/_sandbox/verify',
      says: 'Checks the requests so far: {"expectations": [{"request": {"operation": "videos.create"}, "exactly": 1}]}. 422 with a report if they are different.',
      handler: async (context) =>
        answer(context, verified(await jsonBody(context.req.raw, verification), journal.inspected(), journal)),
    },
    {
      method: 'GET',
      path: '/_sandbox/expectations',
      says: 'Returns the registered expectations, and which are met, unmet or broken.',
      handler: (context) => context.json({ data: bookView(expectations) }),
    },
    {
      method: 'PUT',
      path: '/_sandbox/expectations',
      says: 'Registers expectations for the requests from now on, in the place of all others. With "refuse": true a request that breaks one gets an error.',
      handler: async (context) => {
        expectations.register(await jsonBody(context.req.raw, registeredExpectations));
        return context.json({ data: bookView(expectations) });
      },
    },
    {
      method: 'DELETE',
      path: '/_sandbox/expectations',
      says: 'Removes all expectations.',
      handler: (context) => {
        expectations.clear();
        return context.body(null, 204);
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/expectations/verify',
      says: 'Checks the registered expectations. 422 with a report if one is unmet or broken.',
      handler: async (context) => {
        await noBody(context.req.raw);
        if (expectations.isFull) throw new ApiError('conflict', TOO_MANY);
        const outcome = expectations.outcome();
        if (!outcome)
          throw new ApiError(
            'conflict',
            'No expectations are registered. Send them with PUT /_sandbox/expectations first.',
          );
        return answer(context, outcome);
      },
    },
  ];
}

/** 422 has a report that says all, and the same as data. */
function answer(context: Context, outcome: Outcome): Response {
  const data = outcomeView(outcome);
  if (outcome.state === 'met') return context.json({ data });
  return context.json({ error: { code: 'verification_failed', message: reportOf(outcome) }, data }, 422);
}

function bookView(book: ExpectationBook) {
  const { registered, after, isFull } = book;
  const outcome = book.outcome();
  if (!registered || !outcome) return { registered: null, state: null, expectations: [], unexpected: [] };
  return { registered, after, ...(isFull && { full: true }), ...outcomeView(outcome) };
}

function outcomeView({ state, expectations, unexpected }: Outcome) {
  return {
    ok: state === 'met',
    state,
    expectations: expectations.map(expectationView),
    unexpected: unexpected.map(requestView),
  };
}

function expectationView({ name, state, matched, problems, brokenBy, nearest }: ExpectationOutcome) {
  return {
    name,
    state,
    matched: matched.slice(0, MOST_SHOWN).map(({ number }) => number),
    count: matched.length,
    problems,
    broken_by: brokenBy.slice(0, MOST_SHOWN),
    nearest: nearest.map(({ request, differences }) => ({ ...requestView(request), differences })),
  };
}

const MOST_SHOWN = 1000;

function requestView({ number, line }: Judged) {
  return { number, request: line };
}
