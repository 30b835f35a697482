import { unsafeCharacters } from '@dropcast/pages/unsafe-characters';

/**
 * Quotes a word for use in shell commands in messages. A name with a line break or another invisible character becomes
 * `$'…'`, which bash, zsh and ksh support. Escaping it for display would change the name.
 */
export function shellWord(text: string): string {
  if (text.search(unsafeCharacters) === -1) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll(unsafeCharacters, bytesOf)}'`;
}

function bytesOf(character: string): string {
  return Array.from(Buffer.from(character), (byte) => String.raw`\x${byte.toString(16).padStart(2, '0')}`).join('');
}
