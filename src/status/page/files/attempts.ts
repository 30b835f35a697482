import { badge, facts, table, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { ShowView } from '../../../view/files/show-view.ts';
import { momentAndSpan } from '../moment.ts';

/** What failed, latest first, with what the service said. */
export function attempts(history: ShowView['history'], now: number): Html | '' {
  const failed = history.map((line, n) => ({ ...line, n })).filter(({ failure }) => failure !== null);
  if (failed.length === 0) return '';
  return html`<section class="card" data-key="attempts">
    <div class="head"><h2>Failed attempts</h2></div>
    ${table({
      label: 'Failed attempts, latest first',
      items: failed.toReversed(),
      keyOf: ({ n }) => String(n),
      columns: [
        { heading: 'What failed', kind: 'main', cell: ({ note }) => visibleText(note ?? 'unknown reason') },
        { heading: 'Then', cell: ({ state }) => badge(state === 'failed' ? 'bad' : 'notice', state) },
        { heading: 'HTTP', kind: 'number', cell: ({ failure }) => String(failure?.status ?? '') },
        {
          heading: 'Code',
          kind: 'minor',
          cell: ({ failure }) => html`<code>${visibleText(failure?.code ?? '')}</code>`,
        },
        { heading: 'When', cell: ({ at }) => momentAndSpan(at, now) },
      ],
    })}
  </section>`;
}

/** Every change of state, oldest first. */
export function historyList(history: ShowView['history'], now: number): Html {
  return html`<details class="card fold" data-key="history">
    <summary>History: ${history.length} ${history.length === 1 ? 'line' : 'lines'}</summary>
    <div class="body">
      ${facts(
        history.map(({ at, state, note }) => [
          state,
          html`${momentAndSpan(at, now)} ${note === null ? '' : html`<span class="note">${visibleText(note)}</span>`}`,
        ]),
      )}
    </div>
  </details>`;
}
