import type { Context } from 'hono';
import { badge, button, emptyState, named, table, visibleLines, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { z } from 'zod';
import { mistakesAsText, query } from '../../http/input.ts';
import { verification } from '../../inspector/expectation.ts';
import { countWords, type ExpectationOutcome, type Outcome, type State } from '../../inspector/outcome.ts';
import { reportOf } from '../../inspector/report.ts';
import { missingRequests, verified } from '../../inspector/verify.ts';
import type { Services } from '../../services.ts';
import type { View } from '../layout.ts';

type ExpectationParts = Pick<Services, 'journal' | 'expectations'>;

/** The registered expectations and how they stand, and a check of the requests so far. */
export function expectations(parts: ExpectationParts): (context: Context) => View {
  return (context) => {
    const { verify } = query(context.req.raw, asked);
    const outcome = parts.expectations.outcome();
    return {
      title: 'Expectations',
      section: '/_page/expectations',
      changesWith: ['request', 'expectations.changed'],
      ...(outcome && { aside: button('/_page/expectations/clear', 'Remove all', 'danger') }),
      body: html`${registered(parts, outcome)} ${registration(parts)} ${check(parts, verify)}`,
    };
  };
}

const asked = z.strictObject({ verify: z.string().optional() });

const KINDS = { met: 'good', unmet: 'waiting', broken: 'bad' } as const;

function stateBadge(state: State): Html {
  return badge(KINDS[state], state);
}

function registered({ expectations: book }: ExpectationParts, outcome: Outcome | undefined): Html {
  if (!outcome)
    return html`<section class="card" id="registered">${emptyState('No expectations are registered.')}</section>`;
  const { refuse, only } = book.registered ?? {};
  return html`<section class="card" id="registered">
    <div class="head">
      <h2>Registered</h2>
      ${stateBadge(outcome.state)}
    </div>
    ${expectationTable(outcome.expectations)}
    <div class="body">
      <p class="muted">
        About requests after number ${book.after}. ${only === true ? 'No others may come.' : 'Others may come.'}
        ${refuse === true ? 'A request that breaks an expectation gets an error.' : 'Requests that break an expectation are carried out all the same.'}
      </p>
      ${report(outcome, 'Report of the registered expectations')}
    </div>
  </section>`;
}

function expectationTable(list: readonly ExpectationOutcome[]): Html | '' {
  if (list.length === 0) return '';
  return table({
    label: 'Expectations',
    items: list,
    keyOf: ({ name }) => `expectation-${name}`,
    columns: [
      { heading: 'Expectation', kind: 'main', cell: ({ name }) => named(name) },
      { heading: 'Wanted', cell: ({ expectation }) => countWords(expectation) },
      { heading: 'State', cell: ({ state }) => stateBadge(state) },
      { heading: 'Came', kind: 'number', cell: ({ matched }) => html`${matched.length}` },
      { heading: 'Requests', kind: 'minor', cell: ({ matched }) => links(matched.map(({ number }) => number)) },
    ],
  });
}

function links(numbers: readonly number[]): Html {
  return html`${numbers.slice(0, 5).map((number) => html`<a href="/_page/requests/${number}">#${number}</a> `)}${numbers.length > 5 ? '…' : ''}`;
}

function report(outcome: Outcome, label: string): Html {
  return html`<pre class="source" tabindex="0" role="region" aria-label="${label}">
${visibleLines(reportOf(outcome))}</pre>`;
}

function registration({ expectations: book }: ExpectationParts): Html {
  const shown = book.registered ?? EXAMPLE;
  return html`<section class="card" id="register">
    <div class="head"><h2>Register</h2></div>
    <form class="body" method="post" action="/_page/expectations">
      ${documentField('document', 'Expectations of the requests from now on, as JSON', JSON.stringify(shown, null, 2))}
      <div><button class="main">Register</button></div>
    </form>
  </section>`;
}

const EXAMPLE = {
  expectations: [
    { name: 'one create', request: { operation: 'videos.create' }, exactly: 1, before: { operation: 'uploads.put' } },
  ],
  only: false,
  refuse: false,
};

/** With GET: it changes nothing, its address can be kept, and the answer follows the requests. */
function check({ journal }: ExpectationParts, given: string | undefined): Html {
  const { expectations: examples } = EXAMPLE;
  return html`<section class="card" id="verify">
    <div class="head"><h2>Check the requests so far</h2></div>
    <div class="body">
      <form class="stack" method="get" action="/_page/expectations#verify">
        ${documentField('verify', 'What must hold, as JSON', given ?? JSON.stringify({ expectations: examples }, null, 2))}
        <div><button>Check</button></div>
      </form>
      ${given === undefined ? '' : checked(given, journal)}
    </div>
  </section>`;
}

function checked(given: string, journal: Services['journal']): Html {
  const result = verification.safeParse(jsonIn(given));
  if (!result.success)
    return html`<p class="muted" role="status">
      ${jsonIn(given) === undefined ? 'This is not valid JSON.' : mistakesAsText(result.error, 'JSON')}
    </p>`;
  const missing = missingRequests(result.data, journal);
  if (missing !== undefined) return html`<p class="muted" role="status">${missing}</p>`;
  const outcome = verified(result.data, journal.inspected(), journal);
  return html`<p>${stateBadge(outcome.state)}</p>
    ${report(outcome, 'Report of the check')}`;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function documentField(name: string, label: string, value: string): Html {
  return html`<label
    >${label} <textarea class="document" name="${name}" rows="10" spellcheck="false" required>${value}</textarea>
  </label>`;
}
