import type { Context } from 'hono';
import { badge, visibleLines, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { z } from 'zod';
import { mistakesAsText, query } from '../../http/input.ts';
import type { Journal } from '../../http/journal.ts';
import { verification } from '../../inspector/expectation.ts';
import { reportOf } from '../../inspector/outcome.ts';
import { missingRequests, stateOf, verified } from '../../inspector/verify.ts';
import type { View } from '../layout.ts';

/**
 * View that checks the requests so far. It uses GET because it changes nothing: its address can be bookmarked, and the
 * result updates as requests arrive.
 */
export function verify(journal: Journal): (context: Context) => View {
  return (context) => {
    const { document } = query(context.req.raw, asked);
    return {
      title: 'Verify',
      section: '/_page/verify',
      changesWith: ['request'],
      body: html`<section class="card" id="verify">
        <div class="head"><h2>Check the requests so far</h2></div>
        <div class="body">
          <form class="stack" method="get" action="/_page/verify#verify">
            <label
              >What must hold, as JSON
              <textarea class="document" name="document" rows="10" spellcheck="false" required>
${document ?? EXAMPLE}</textarea>
            </label>
            <div><button>Check</button></div>
          </form>
          ${document === undefined ? '' : checked(document, journal)}
        </div>
      </section>`,
    };
  };
}

const asked = z.strictObject({ document: z.string().optional() });

const EXAMPLE = JSON.stringify(
  {
    expectations: [
      { name: 'one create', request: { operation: 'videos.create' }, exactly: 1, before: { operation: 'uploads.put' } },
    ],
  },
  null,
  2,
);

function checked(given: string, journal: Journal): Html {
  const json = jsonIn(given);
  const result = verification.safeParse(json);
  if (!result.success)
    return html`<p class="muted" role="status">
      ${json === undefined ? 'This is not valid JSON.' : mistakesAsText(result.error, 'JSON')}
    </p>`;
  const missing = missingRequests(result.data, journal);
  if (missing !== undefined) return html`<p class="muted" role="status">${missing}</p>`;
  const outcome = verified(result.data, journal.inspected(), journal);
  return html`<p>${badge(outcome.isMet ? 'good' : 'bad', stateOf(outcome.isMet))}</p>
    <pre class="source" tabindex="0" role="region" aria-label="Report of the check">
${visibleLines(reportOf(outcome))}</pre>`;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
