import { html } from 'hono/html';
import type { Html } from './html.ts';

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
