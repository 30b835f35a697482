/** Thrown for anything that a unit must not or cannot contain. The message says what to do instead. */
export class UnitError extends Error {
  override readonly name = 'UnitError';
}

/**
 * Quotes text as one word in a unit file (systemd.syntax(7), "Quoting"; systemd.unit(5), "Specifiers").
 *
 * @throws {UnitError} when it contains a control character: a line break would start another line in the unit
 */
export function unitWord(text: string): string {
  refuseControls(text);
  const word = text.replaceAll('%', '%%');
  return /^[\w./:@%=+,-]+$/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`;
}

/**
 * Quotes a path for `BindPaths=`, where colons separate source, target and options. An unquoted colon in a name could
 * therefore mount a user's directory over any other. Quoted, the colon stays part of the path. But systemd 257 passes
 * the parsed value to the service process as text, and thereby loses colons, quotation marks and backslashes (seen: 252
 * binds `/home/a"b`; 257 reports `/rbind: No such file or directory`, or nothing with `-`).
 *
 * @throws {UnitError} also when it contains such a character
 */
export function bindWord(text: string): string {
  const [character] = /[:"'\\]/.exec(text) ?? [];
  if (character !== undefined)
    throw new UnitError(
      `${JSON.stringify(text)} contains ${characters[character]}, which systemd cannot bind into a service: rename it, or move it out of /home and /tmp`,
    );
  return unitWord(text);
}

const characters: Readonly<Record<string, string>> = {
  ':': 'a colon',
  '"': 'a quotation mark',
  "'": 'a quotation mark',
  '\\': 'a backslash',
};

/**
 * Formats a comment line for a unit file.
 *
 * @throws {UnitError} when it contains a control character: systemd would interpret anything after a line break
 */
export function unitComment(text: string): string {
  refuseControls(text);
  return `# ${text}`;
}

/**
 * Returns a mount point's mount unit, like `systemd-escape --path --suffix=mount` (systemd.unit(5), "String escaping").
 */
export function mountUnit(mountPoint: string): string {
  const path = mountPoint.replaceAll(/^\/+|\/+$/g, '').replaceAll(/\/+/g, '/');
  if (path === '') return '-.mount';
  return `${[...Buffer.from(path)].map(escapedByte).join('')}.mount`;
}

function escapedByte(byte: number, index: number): string {
  const character = String.fromCharCode(byte);
  if (character === '/') return '-';
  const isPlain = byte < 0x80 && /[\w:.]/.test(character) && !(character === '.' && index === 0);
  return isPlain ? character : `\\x${byte.toString(16).padStart(2, '0')}`;
}

function refuseControls(text: string): void {
  if (/\p{Cc}/u.test(text))
    throw new UnitError(
      `${JSON.stringify(text)} contains a control character, which is not allowed in a unit file: rename it`,
    );
}
