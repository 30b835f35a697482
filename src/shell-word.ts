import { unsafeCharacters } from '@dropcast/pages/unsafe-characters';

/**
 * A word that a shell takes as it is, for commands in messages. A name with a line break or another invisible character
 * becomes `$'…'`, which bash, zsh and ksh know: escaping it for display would make it another name.
 */
export function shellWord(text: string): string {
  if (text.search(unsafeCharacters) === -1) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll(unsafeCharacters, bytesOf)}'`;
}

function bytesOf(character: string): string {
  return Array.from(Buffer.from(character), (byte) => String.raw`\x${byte.toString(16).padStart(2, '0')}`).join('');
}
