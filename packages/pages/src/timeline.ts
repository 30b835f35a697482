import { html } from 'hono/html';
import { time } from './elements.ts';
import type { Html } from './html.ts';

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
