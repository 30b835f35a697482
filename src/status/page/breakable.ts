import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';

/** A path, a key or an address, which is cut into lines between its parts rather than within them. */
export function breakable(text: string): Html {
  const parts = text.split(/(?<=[/._,])|(?=\[)/u);
  return html`${parts.map((part, n) => (n === 0 ? part : html`<wbr />${part}`))}`;
}
