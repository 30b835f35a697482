import { html, raw } from 'hono/html';
import type { VideoStatus } from '../store/videos.ts';
import { visibleText } from './words.ts';

export type Html = ReturnType<typeof html>;

/** Text from a client, isolated so that its writing direction affects nothing else. */
export function named(text: string): Html {
  return html`<bdi>${visibleText(text)}</bdi>`;
}

/** In UTC, by the service's clock. */
export function time(atMs: number): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`;
}

/** With a word and a shape, because many people cannot rely on colour. */
export function status(word: VideoStatus): Html {
  return badge(word, word);
}

export type BadgeKind = VideoStatus | 'on' | 'off';

export function badge(kind: BadgeKind, word: string): Html {
  return html`<span class="badge ${kind}">${raw(SHAPES[kind])}${word}</span>`;
}

const shape = (inside: string) => `<svg viewBox="0 0 12 12" aria-hidden="true">${inside}</svg>`;

const SHAPES: Readonly<Record<BadgeKind, string>> = {
  pending: shape('<circle cx="6" cy="6" r="4.2" class="line" stroke-dasharray="2.2 2.2"/>'),
  processing: shape('<circle cx="6" cy="6" r="4.2" class="line"/><path d="M6 1.8a4.2 4.2 0 0 1 0 8.4z"/>'),
  ready: shape('<path class="line" d="M2 6.5 5 9.3 10.2 3"/>'),
  failed: shape('<path class="line" d="m2.6 2.6 6.8 6.8m0-6.8-6.8 6.8"/>'),
  on: shape('<path d="M6 1 11.2 10.6H.8z"/>'),
  off: shape('<path class="line" d="M2.5 6h7"/>'),
};

export interface Column<T> {
  readonly heading: string;
  readonly cell: (item: T) => Html | string;
  /** `main` names the row; `number` is right-aligned; `minor` is hidden on narrow screens. */
  readonly kind?: 'main' | 'number' | 'minor' | 'minor number' | 'picture' | undefined;
}

export interface Table<T> {
  /** What a screen reader announces. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  /** The same thing has the same key after a live update. */
  readonly keyOf: (item: T) => string;
}

/** In a region that scrolls, also by keyboard, when the table is too wide. */
export function table<T>({ label, columns, items, keyOf }: Table<T>): Html {
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${columns.map(({ heading, kind }) => html`<th scope="col" class="${kind ?? ''}">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${items.map(
          (item) =>
            html`<tr data-key="${keyOf(item)}">
              ${columns.map((column) => cellOf(column, item))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function cellOf<T>({ cell, kind }: Column<T>, item: T): Html {
  if (kind === 'main') return html`<th scope="row" class="main">${cell(item)}</th>`;
  return html`<td class="${kind ?? ''}">${cell(item)}</td>`;
}

/** Shown instead of an empty list: what to do next, with a command to paste. */
export function emptyState(text: string, command?: string): Html {
  return html`<div class="empty">
    <p>${text}</p>
    ${command === undefined ? '' : commandLine(command)}
  </div>`;
}

export function commandLine(command: string): Html {
  return html`<pre class="command" tabindex="0" role="region" aria-label="Command">${command}</pre>`;
}

/** Facts in two columns. Facts without a value are left out. */
export function facts(entries: readonly (readonly [string, Html | string | null])[]): Html {
  const known = entries.filter(([, value]) => value !== null);
  return html`<dl class="facts">
    ${known.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** A button that changes something: a form, so that it works without scripts. */
export function button(action: string, label: Html | string, kind: 'plain' | 'danger' | 'main' = 'plain'): Html {
  return html`<form method="post" action="${action}"><button class="${kind}">${label}</button></form>`;
}

/** A button with a second step, which needs no script either. */
export function confirmed(action: string, labels: { first: string; question: string; second: string }): Html {
  return html`<details class="confirm">
    <summary>${labels.first}</summary>
    <form method="post" action="${action}">
      <p>${labels.question}</p>
      <button class="danger">${labels.second}</button>
    </form>
  </details>`;
}

/** For screen readers only. */
export function unseen(text: string): Html {
  return html`<span class="unseen">${text}</span>`;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function select(name: string, label: string, chosen: string | undefined, choices: readonly Choice[]): Html {
  return html`<label
    >${label}
    <select name="${name}">
      ${choices.map(
        ({ value, label: text }) =>
          html`<option value="${value}" ${raw(value === (chosen ?? '') ? 'selected' : '')}>
            ${visibleText(text)}
          </option>`,
      )}
    </select></label
  >`;
}

export interface Paging {
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
  /** The other parameters of the query. */
  readonly filter: Readonly<Record<string, string | undefined>>;
}

/** Empty when everything fits on one page. */
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

/** A query string without the empty parameters. */
export function addressOf(query: Readonly<Record<string, string | undefined>>): string {
  const asked = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return `?${new URLSearchParams(asked).toString()}`;
}
