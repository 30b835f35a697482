/** Thrown for text that a unit file cannot contain. */
export class UnitTextError extends Error {
  override readonly name = 'UnitTextError';
}

/**
 * Quotes text as one word of a unit file (systemd.syntax(7), "Quoting"; systemd.unit(5), "Specifiers").
 *
 * @throws {UnitTextError} when it contains a control character: a line break would start another line of the unit
 */
export function unitWord(text: string): string {
  refuseControls(text);
  const word = text.replaceAll('%', '%%');
  return /^[\w./:@%=+,-]+$/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`;
}

/**
 * The same for `BindPaths=`, where systemd 257 loses quotation marks, and with them the folder (seen: 252 binds `/home/a"b`, 257 says
 * `/rbind: No such file or directory`, or nothing with `-` in front).
 *
 * @throws {UnitTextError} also when it contains a quotation mark
 */
export function bindWord(text: string): string {
  if (/["']/.test(text))
    throw new UnitTextError(
      `${JSON.stringify(text)} contains a quotation mark, which systemd cannot bind into a service: rename it, or move it out of /home and /tmp`,
    );
  return unitWord(text);
}

/**
 * A comment line of a unit file.
 *
 * @throws {UnitTextError} when it contains a control character: systemd would obey what follows a line break
 */
export function unitComment(text: string): string {
  refuseControls(text);
  return `# ${text}`;
}

/** The mount unit of a mount point, like `systemd-escape --path --suffix=mount` (systemd.unit(5), "String escaping"). */
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
    throw new UnitTextError(
      `${JSON.stringify(text)} contains a control character, which a unit file cannot: rename it`,
    );
}
