import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';

/** Renders a path, key or address so that lines break between its parts, not within them. */
export function breakable(text: string): Html {
  const parts = text.split(/(?<=[/._,])|(?=\[)/u);
  return html`${parts.map((part, n) => (n === 0 ? part : html`<wbr />${part}`))}`;
}
