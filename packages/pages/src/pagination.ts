import { html } from 'hono/html';
import type { Html } from './html.ts';

interface Paging {
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
  /** The other parameters of the query. */
  readonly filter: Readonly<Record<string, string | undefined>>;
}

/** Renders links to the other pages; empty if everything fits on one page. */
export function pagination({ page, perPage, total, filter }: Paging): Html | '' {
  const last = Math.max(1, Math.ceil(total / perPage));
  if (last === 1 && page === 1) return '';
  const to = (number: number, label: string, isThere: boolean) =>
    isThere
      ? html`<a href="${addressOf({ ...filter, page: String(number) })}">${label}</a>`
      : html`<span>${label}</span>`;
  return html`<nav class="pages" aria-label="Pages">
    ${to(1, 'First', page > 1)} ${to(Math.min(page - 1, last), 'Previous', page > 1)}
    <span class="here">Page ${page} of ${last}</span>
    ${to(page + 1, 'Next', page < last)} ${to(last, 'Last', page < last)}
  </nav>`;
}

/** Returns a query string without the empty parameters. */
export function addressOf(query: Readonly<Record<string, string | undefined>>): string {
  const asked = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return `?${new URLSearchParams(asked).toString()}`;
}
