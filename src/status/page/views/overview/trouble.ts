import { badge, named, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { OverviewView } from '../../../../daemon/overview/overview-view.ts';
import { moment } from '../../moment.ts';

/** Pauses, folders that are not simply watched, and notification targets that take nothing. */
export function troublePanel({ pauses, folders, deaf_targets: targets }: OverviewView, now: number): Html | '' {
  if (pauses.length + folders.length + targets.length === 0) return '';
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
      ${targets.map(
        ({ name, why, since, waiting }) =>
          html`<li>
            ${badge('notice', 'not told')} <strong>${named(name)}</strong> takes nothing since ${moment(since, now)}:
            ${visibleText(why)}. ${messagesWait(waiting)} <code>dropcast notify test</code> tries it now.
          </li>`,
      )}
    </ul>
  </section>`;
}

function messagesWait(waiting: number): string {
  if (waiting === 0) return '';
  return waiting === 1 ? '1 message waits.' : `${waiting} messages wait.`;
}
