import { html, raw } from 'hono/html';
import type { Html } from './html.ts';
import { visibleText } from './words.ts';

/** A button that changes something. It is a form, so that it works without scripts. */
export function button(action: string, label: Html | string, kind: 'plain' | 'danger' | 'main' = 'plain'): Html {
  return html`<form method="post" action="${action}"><button class="${kind}">${label}</button></form>`;
}

/** A button that asks for confirmation, which needs no script either. */
export function confirmed(action: string, labels: { first: string; question: string; second: string }): Html {
  return html`<details class="confirm">
    <summary>${labels.first}</summary>
    <form method="post" action="${action}">
      <p>${labels.question}</p>
      <button class="danger">${labels.second}</button>
    </form>
  </details>`;
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
