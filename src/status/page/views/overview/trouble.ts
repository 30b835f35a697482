import { badge, named, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { OverviewView } from '../../../../daemon/overview/overview-view.ts';

/** Pauses, and folders that are not simply watched. */
export function troublePanel({ pauses, folders }: OverviewView): Html | '' {
  if (pauses.length + folders.length === 0) return '';
  return html`<section class="card" data-key="trouble">
    <ul class="causes">
      ${pauses.map(
        ({ what, why }) => html`<li>${badge('off', 'waits')} <strong>${named(what)}</strong>: ${visibleText(why)}</li>`,
      )}
      ${folders.map(
        ({ path, state, why }) =>
          html`<li>
            ${badge(state === 'frozen' ? 'bad' : 'notice', state)}
            <a href="/folders">${named(path)}</a>${why === null ? '' : `: ${visibleText(why)}`}
          </li>`,
      )}
    </ul>
  </section>`;
}
