import type { Context } from 'hono';
import type { Endpoint } from '../http/handler.ts';
import { jsonBody } from '../http/input.ts';
import type { Journal } from '../http/journal.ts';
import { verification } from './expectation.ts';
import type { Judged } from './judged.ts';
import type { ExpectationOutcome, Outcome } from './outcome.ts';
import { reportOf } from './report.ts';
import { verified } from './verify.ts';

/** Checks which requests arrived, for tests in other programs. */
export function verifyEndpoint(journal: Journal): Endpoint {
  return {
    method: 'POST',
    path: '/_sandbox/verify',
    says: 'Checks the requests so far: {"expectations": [{"request": {"operation": "videos.create"}, "exactly": 1}]}. 422 with a report if they are different.',
    handler: async (context) =>
      answer(context, verified(await jsonBody(context.req.raw, verification), journal.inspected(), journal)),
  };
}

/** Answers with the outcome. A 422 carries the whole report as text, and the same outcome as data. */
function answer(context: Context, outcome: Outcome): Response {
  const data = outcomeView(outcome);
  if (outcome.state === 'met') return context.json({ data });
  return context.json({ error: { code: 'verification_failed', message: reportOf(outcome) }, data }, 422);
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
