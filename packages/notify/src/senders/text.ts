import type { Envelope } from '../message.ts';

/** The text of a message, with the host that sends it and the address of its page as the last line. */
export function textOf({ title, body, host, page }: Envelope): string {
  return `${body === '' ? title : body}\ndropcast on ${host}${page === undefined ? '' : `: ${page}`}`;
}

const ZERO_WIDTH_SPACE = '\u200B';

/**
 * Where mentions (`@everyone`, `<!channel>`, `<@U1>`), tags of HTML (`<img`), links behind other words (`[x](…)`, `<https://…|x>`)
 * and link definitions (`[x]: …`) begin.
 */
const beginnings = /@(?=[\p{L}\p{N}_])|<(?=[\p{L}!@#/?])|\](?=[([:])/gu;

/**
 * Text that mentions no one and links to nothing in a chat that reads HTML, Markdown or the markup of Slack. A zero-width space breaks what would begin there, so the text looks the same everywhere, which an escape for one of them would not.
 */
export function inert(text: string): string {
  return text.replace(beginnings, `$&${ZERO_WIDTH_SPACE}`);
}
