import { html } from 'hono/html';
import type { Html } from './html.ts';
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
