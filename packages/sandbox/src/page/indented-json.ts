/**
 * Returns the JSON text with line breaks and indentation, otherwise unchanged. Pure. `JSON.parse` would lose the digits
 * of large numbers, all but the last of repeated fields, and how characters are escaped.
 * @param json valid JSON
 */
export function indentedJson(json: string): string {
  const tokens = json.match(TOKEN) ?? [];
  let depth = 0;
  return tokens
    .map((token, index) => {
      if (OPENING.has(token)) depth += 1;
      if (CLOSING.has(token)) depth -= 1;
      const next = tokens[index + 1] ?? '';
      return `${token}${gapBetween(token, next, depth)}`;
    })
    .join('');
}

const TOKEN = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const OPENING = new Set(['{', '[']);
const CLOSING = new Set(['}', ']']);

/** Returns the white space between two tokens. @param depth nesting depth after the first token */
function gapBetween(token: string, next: string, depth: number): string {
  if (token === ':') return ' ';
  if (CLOSING.has(next)) return OPENING.has(token) ? '' : lineBreak(depth - 1);
  return OPENING.has(token) || token === ',' ? lineBreak(depth) : '';
}

function lineBreak(depth: number): string {
  return `\n${'  '.repeat(depth)}`;
}
