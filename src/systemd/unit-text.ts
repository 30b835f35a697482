/** Thrown for a path that no line of a unit can hold. */
export class UnitTextError extends Error {
  override readonly name = 'UnitTextError';
}

/**
 * A word of a unit file that systemd reads back as `text` (systemd.syntax(7), "Quoting"; systemd.unit(5), "Specifiers").
 *
 * @throws {UnitTextError} when it holds a control character: a line break would be another line of the unit
 */
export function unitWord(text: string): string {
  refuseControls(text);
  const word = text.replaceAll('%', '%%');
  return /^[\w./:@%=+,-]+$/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`;
}

/**
 * The same for `BindPaths=`, where systemd 257 loses quotation marks on the way to the service, and with them the folder
 * (seen: 252 binds `/home/a"b`, 257 says `/rbind: No such file or directory`, or nothing with `-` in front).
 *
 * @throws {UnitTextError} also when it holds a quotation mark
 */
export function bindWord(text: string): string {
  if (/["']/.test(text))
    throw new UnitTextError(
      `${JSON.stringify(text)} holds a quotation mark, which systemd cannot bind into a service: rename it, or move it out of /home and /tmp`,
    );
  return unitWord(text);
}

/**
 * A comment line of a unit file.
 *
 * @throws {UnitTextError} when it holds a control character: what is behind a line break would be obeyed
 */
export function unitComment(text: string): string {
  refuseControls(text);
  return `# ${text}`;
}

/** The name of the mount unit of a mount point, like `systemd-escape --path --suffix=mount` (systemd.unit(5), "String escaping"). */
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
    throw new UnitTextError(`${JSON.stringify(text)} holds a control character, which no unit file can: rename it`);
}
