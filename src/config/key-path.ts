/** Where a value stands in the tree: `['folders', 0, 'rules', 1, 'match']`. */
export type KeyPath = readonly (string | number)[];

/** The path as an operator reads it: `folders[0].rules[1].match`; a key that is no plain word stands quoted in brackets. */
export function formatKeyPath(path: KeyPath): string {
  return path.map(formatStep).join('');
}

function formatStep(step: string | number, index: number): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[A-Za-z_][\w-]{0,63}$/.test(step)) return `[${quote(step)}]`;
  return index === 0 ? step : `.${step}`;
}

/** Reads plain keys such as `folders[0].rules[1]` back; quoted keys name nothing that the program ever asks for. */
export function parseKeyPath(key: string): KeyPath {
  return [...key.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) => (index === undefined ? word : Number(index)));
}

/**
 * A user's own text inside a message: at most `limit` characters, and nothing that a terminal would obey or hide
 * (control, format and bidirectional characters are shown as `\u{…}`).
 */
export function quote(text: string, limit = 40): string {
  // A character that the cut splits in two shows as an escape, too.
  const shown = text.slice(0, limit).replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, escape);
  return `"${shown}${text.length > limit ? '…' : ''}"`;
}

function escape(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
