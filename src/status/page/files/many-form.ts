import { counted } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { FileQuery } from '../../../view/files/query.ts';
import { bulkCommands } from './bulk-commands.ts';

/** A table with ticks below a bar that stays in view: a command for those that are ticked, or for all that match. Leads to a page that says what it costs. */
export function manyForm(query: FileQuery, total: number, rows: Html): Html {
  return html`<form method="get" action="/files/many" class="many" data-key="many">
    ${hiddenWords(query)}
    <fieldset class="row">
      <legend class="unseen">Which files</legend>
      <label class="scripted"><input type="checkbox" data-ticks="id" /> tick all of this page</label>
      <label><input type="radio" name="which" value="ticked" checked /> the ticked ones</label>
      <label><input type="radio" name="which" value="all" /> all ${counted(total, 'file')} that match</label>
      ${bulkCommands.map(({ name, label }) => html`<button name="do" value="${name}">${label}…</button>`)}
    </fieldset>
    ${rows}
  </form>`;
}

export function hiddenWords(query: Readonly<Record<string, string | undefined>>): Html {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return html`${given.map(([word, value]) => html`<input type="hidden" name="${word}" value="${value}" />`)}`;
}
