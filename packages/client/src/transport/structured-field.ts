/** A member of a structured field: `name;key=value` in a list, `name=value` in a dictionary. */
export interface Member {
  readonly name: string;
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const longest = 1024;

/**
 * Reads a list or dictionary (RFC 9651 sections 3.1 and 3.2) leniently: types are not checked, and strings lose their
 * quotes. A member that is not readable is missing from the result.
 *
 * @returns null if the text has more than 1,024 characters
 */
export function membersOf(text: string): readonly Member[] | null {
  if (text.length > longest) return null;
  return partsOf(text, /(?:"(?:[^"\\]|\\.)*"|[^,"])+/g).map((member) => {
    const [item = '', ...parameters] = partsOf(member, /(?:"(?:[^"\\]|\\.)*"|[^;"])+/g);
    const [name, value] = keyAndValue(item);
    return { name, value, parameters: new Map(parameters.map(keyAndValue)) };
  });
}

function partsOf(text: string, part: RegExp): readonly string[] {
  return text.match(part) ?? [];
}

function keyAndValue(text: string): readonly [key: string, value: string] {
  const [, key = '', value = ''] = /^\s*("(?:[^"\\]|\\.)*"|[^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  return [unquoted(key), unquoted(value)];
}

function unquoted(text: string): string {
  return text.trim().replace(/^"(.*)"$/s, '$1');
}
