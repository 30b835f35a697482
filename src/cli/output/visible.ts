import { escapeControls } from '../../log/unsafe-characters.ts';

/**
 * Text of others (file names, titles, answers of the service) made safe for a terminal: controls, escape sequences and bidirectional
 * overrides are shown as `\n`, `\x1b`, `\u202e` and do nothing. The log escapes by the same rule.
 */
export function visible(text: string): string {
  return escapeControls(text);
}

/** Colours and weights as `styleText` writes them; anything longer or different is not let through. */
// oxlint-disable-next-line no-control-regex -- ESC is what is looked for
const STYLE = /(\u{1B}\[[\d;]{1,16}m)/u;

/** A whole line of ours that holds such text: the newline at its end goes, its colours stay and end with it, all else is made safe. */
export function permanentLine(text: string): string {
  const parts = text.replace(/\r?\n$/, '').split(STYLE);
  const safe = parts.map((part, index) => (index % 2 === 1 ? part : visible(part))).join('');
  return parts.length > 1 ? `${safe}\u{1B}[0m` : safe;
}
