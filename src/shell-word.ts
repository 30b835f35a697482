/** A word that a shell takes as it is, for commands in messages. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
