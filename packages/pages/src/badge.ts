import { html, raw } from 'hono/html';
import type { Html } from './html.ts';

/** What a badge's word means for the reader. */
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
