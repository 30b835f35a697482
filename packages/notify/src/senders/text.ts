import type { Envelope } from '../message.ts';

/** Returns the text of a message. The last line names the host and the address of its status page. */
export function textOf({ title, body, host, page }: Envelope): string {
  return `${body === '' ? title : body}\ndropcast on ${host}${page === undefined ? '' : `: ${page}`}`;
}

const ZERO_WIDTH_SPACE = '\u200B';

/**
 * Beginnings of mentions (`@everyone`, `<!channel>`, `<@U1>`), HTML tags (`<img`), links hidden behind other words
 * (`[x](…)`, `<https://…|x>`) and link definitions (`[x]: …`).
 */
const beginnings = /@(?=[\p{L}\p{N}_])|<(?=[\p{L}!@#/?])|\](?=[([:])/gu;

/**
 * Disables mentions and links in chats that interpret HTML, Markdown or Slack's markup. A zero-width space breaks up
 * their beginnings, so the text looks the same in all of them; an escape would suit only one.
 */
export function inert(text: string): string {
  return text.replace(beginnings, `$&${ZERO_WIDTH_SPACE}`);
}
