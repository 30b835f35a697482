import { html } from 'hono/html';
import { time } from './elements.ts';
import type { Html } from './html.ts';

export interface Step {
  readonly name: string;
  readonly kind: 'done' | 'failed' | 'now' | 'later';
  readonly atMs: number | null;
  /** The time since the previous step, or what it waits for. */
  readonly note: string;
}

/** What happened to one thing, in order. @param words of a time; date and time in UTC when left out */
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
