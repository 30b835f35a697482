import { html, raw } from 'hono/html';
import { visibleText } from './words.ts';

/** Shows text from outside, isolated so that its writing direction affects nothing else. */
export function named(text: string): Html {
  return html`<bdi>${visibleText(text)}</bdi>`;
}

/** @param words the displayed text; date and time in UTC if omitted. The exact time is the tooltip. */
export function time(atMs: number, words?: string): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${words ?? `${iso.slice(0, 10)} ${iso.slice(11, 19)}`}</time>`;
}

/** Links to another site without revealing the referring page. @param address http or https, already checked */
export function outside(address: string, words: string): Html {
  return html`<a href="${address}" rel="noopener noreferrer external">${words}</a>`;
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

/** Shows facts in two columns, omitting those without a value. */
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

/** Adds text for screen readers only. */
export function unseen(text: string): Html {
  return html`<span class="unseen">${text}</span>`;
}

/** The meaning of a badge's word for the reader. */
export type BadgeKind = keyof typeof SHAPES;

/** Shows a word with a shape and a colour, because many people cannot rely on colour. */
export function badge(kind: BadgeKind, word: string): Html {
  return html`<span class="badge ${kind}">${raw(SHAPES[kind])}${word}</span>`;
}

const shape = (inside: string) => `<svg viewBox="0 0 12 12" aria-hidden="true">${inside}</svg>`;

const SHAPES = {
  waiting: shape('<circle cx="6" cy="6" r="4.2" class="line" stroke-dasharray="2.2 2.2"/>'),
  busy: shape('<circle cx="6" cy="6" r="4.2" class="line"/><path d="M6 1.8a4.2 4.2 0 0 1 0 8.4z"/>'),
  good: shape('<path class="line" d="M2 6.5 5 9.3 10.2 3"/>'),
  bad: shape('<path class="line" d="m2.6 2.6 6.8 6.8m0-6.8-6.8 6.8"/>'),
  notice: shape('<path d="M6 1 11.2 10.6H.8z"/>'),
  off: shape('<path class="line" d="M2.5 6h7"/>'),
} as const;

/** Markup in which all inserted text has been escaped. */
export type Html = ReturnType<typeof html>;

/** A button that changes something. It is a form, so that it works without scripts. */
export function button(action: string, label: Html | string, kind: 'plain' | 'danger' | 'main' = 'plain'): Html {
  return html`<form method="post" action="${action}"><button class="${kind}">${label}</button></form>`;
}

/** A button that asks for confirmation, which needs no script either. */
export function confirmed(action: string, { first, question, second, kind = 'danger', fields = '' }: Confirmed): Html {
  return html`<details class="confirm">
    <summary>${first}</summary>
    <form method="post" action="${action}">
      ${fields}
      <p>${question}</p>
      <button class="${kind}">${second}</button>
    </form>
  </details>`;
}

interface Confirmed {
  readonly first: Html | string;
  readonly question: string;
  readonly second: Html | string;
  readonly kind?: 'plain' | 'danger';
  /** Hidden fields of the form. */
  readonly fields?: Html | '';
}

interface Card {
  readonly title: Html | string;
  /** Identifies the card across live updates. */
  readonly key?: string;
  /** The target of links to the card. */
  readonly id?: string;
  /** Makes the card a landmark with this name. */
  readonly landmark?: string;
  /** Shown next to the title. */
  readonly aside?: Html | string;
  /** Content with a margin. */
  readonly body?: Html;
  /** Content without a margin, such as a table. */
  readonly wide?: Html | '' | readonly (Html | string)[];
}

/** Renders a titled part of a page. */
export function card({ title, key, id, landmark, aside = '', body, wide = '' }: Card): Html {
  const named = Object.entries({ id, 'data-key': key, 'aria-label': landmark }).filter(([, value]) => value);
  return html`<section class="card" ${named.map(([name, value]) => html` ${raw(name)}="${value}"`)}>
    <div class="head">
      <h2>${title}</h2>
      ${aside}
    </div>
    ${body === undefined ? '' : html`<div class="body">${body}</div>`} ${wide}
  </section>`;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** @param choices a text is both a value and its label */
export function select(
  name: string,
  label: string,
  chosen: string | undefined,
  choices: readonly (Choice | string)[],
): Html {
  const all = choices.map((each) => (typeof each === 'string' ? { value: each, label: each } : each));
  return html`<label
    >${label}
    <select name="${name}">
      ${all.map(
        ({ value, label: text }) =>
          html`<option value="${value}" ${raw(value === (chosen ?? '') ? 'selected' : '')}>
            ${visibleText(text)}
          </option>`,
      )}
    </select></label
  >`;
}

export interface Step {
  readonly name: string;
  readonly kind: 'done' | 'failed' | 'now' | 'later';
  readonly atMs: number | null;
  /** Time since the previous step, or what the step is waiting for. */
  readonly note: string;
}

/** Shows what happened to one thing, in order. @param words formats a time; date and time in UTC if omitted */
export function timeline(steps: readonly Step[], words?: (atMs: number) => string): Html {
  return html`<ol class="timeline">
    ${steps.map(
      ({ name, kind, atMs, note }) =>
        html`<li class="${kind}">
          <strong>${name}</strong>${atMs === null ? '' : time(atMs, words?.(atMs))}<span>${note}</span>
        </li>`,
    )}
  </ol>`;
}

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
export function addressOf(query: Readonly<Record<string, string | null | undefined>>): string {
  const asked = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return `?${new URLSearchParams(asked).toString()}`;
}

export interface Column<T> {
  readonly heading: string;
  readonly cell: (item: T) => Html | string;
  /** `main` names the row; `number` is right-aligned; `minor` is hidden on narrow screens. */
  readonly kind?: 'main' | 'number' | 'minor' | 'minor number' | 'picture' | undefined;
}

interface Table<T> {
  /** Name of the table that screen readers announce. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  /** Returns a key that identifies the item across live updates. */
  readonly keyOf: (item: T) => string;
}

/** Renders a table in a region that scrolls, also by keyboard, if the table is too wide. */
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
