/** One word of a POSIX shell that stands for exactly these bytes. NUL cannot be in a word and is left out. */
export function shellWord(bytes: Buffer | string): string {
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  const text = printable(buffer);
  if (text !== undefined) return quoted(text);
  const sayable = buffer.filter((byte) => byte !== 0);
  // $(…) drops line breaks at the end: they stand behind it.
  const end = sayable.findLastIndex((byte) => byte !== NEWLINE) + 1;
  const breaks = '\n'.repeat(sayable.length - end);
  const word = `"$(printf '${formatOf(sayable.subarray(0, end))}')"`;
  return breaks === '' ? word : `${word}'${breaks}'`;
}

/** A command that prints exactly these bytes. */
export function printCommand(bytes: Buffer): string {
  return `printf '${formatOf(bytes)}'`;
}

const NEWLINE = 0x0a;
const HYPHEN = 0x2d;

/** The text, if a shell and a terminal take it as it is. Line breaks within are fine, and so is what no control character is in. */
function printable(bytes: Buffer): string | undefined {
  const text = bytes.toString();
  const isWhole = Buffer.from(text).equals(bytes);
  return isWhole && !/[^\P{C}\n\t]|\u2028|\u2029/u.test(text) ? text : undefined;
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A format for printf: octal escapes are what every shell knows. A hyphen at the beginning would be an option. */
function formatOf(bytes: Uint8Array): string {
  return [...bytes]
    .map((byte, index) =>
      isPlain(byte) && !(index === 0 && byte === HYPHEN)
        ? String.fromCharCode(byte)
        : `\\${byte.toString(8).padStart(3, '0')}`,
    )
    .join('');
}

function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f && !`'\\%`.includes(String.fromCharCode(byte));
}
