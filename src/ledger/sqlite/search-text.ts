import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { longestText } from '../../pipeline/file/selection.ts';

/**
 * Whether any of the columns contains a text, ignoring case. SQLite's LIKE ignores case only for ASCII
 * (sqlite.org/lang_expr.html). GLOB matches every letter if given both cases, but takes four times as long, so it only
 * checks what LIKE finds.
 */
export function hasText(text: string, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  // SQLite ends a pattern at the first NUL, so it would match other texts. No file name contains a NUL.
  if (text.length > longestText || text.includes('\0')) return sql<boolean>`0`;
  const found = spellings(text).flatMap((spelling) => columns.map((column) => contains(column, spelling)));
  return sql<boolean>`(${sql.join(found, sql` or `)})`;
}

/** Returns both Unicode forms of a text: macOS stores `ü` in file names as two characters, but a keyboard sends one. */
function spellings(text: string): readonly string[] {
  return [...new Set([text.normalize('NFC'), text.normalize('NFD')])];
}

function contains(column: RawBuilder<unknown>, text: string): RawBuilder<unknown> {
  const letters = Array.from(text.toWellFormed(), casesOf);
  const like = sql`${column} like ${`%${letters.map(likeLetter).join('')}%`} escape '\\'`;
  if (!letters.some(isBeyondLike)) return like;
  const glob = sql`${column} glob ${`*${letters.map(globLetter).join('')}*`}`;
  // LIKE matches every row if the text has no ASCII letter. Searching for the first letter narrows the rows down in a
  // third of GLOB's time.
  return letters.every(isBeyondLike) ? sql`(${hasOneOf(column, letters[0])} and ${glob})` : sql`(${like} and ${glob})`;
}

function hasOneOf(column: RawBuilder<unknown>, cases: readonly string[] = []): RawBuilder<unknown> {
  return sql`(${sql.join(
    cases.map((letter) => sql`instr(${column}, ${letter})`),
    sql` or `,
  )})`;
}

/** Returns a letter in its cases, the letter itself first. The upper case of `ß` is two letters, so it is omitted. */
function casesOf(letter: string): readonly string[] {
  const cases = [letter, letter.toLowerCase(), letter.toUpperCase()];
  return [...new Set(cases)].filter((one) => Array.from(one).length === 1);
}

function isBeyondLike([letter = '', ...others]: readonly string[]): boolean {
  return others.length > 0 && letter > '\u007F';
}

function likeLetter(cases: readonly string[]): string {
  const [letter = ''] = cases;
  if (isBeyondLike(cases)) return '_';
  return '\\%_'.includes(letter) ? `\\${letter}` : letter;
}

function globLetter(cases: readonly string[]): string {
  const [letter = ''] = cases;
  return cases.length > 1 || '*?['.includes(letter) ? `[${cases.join('')}]` : letter;
}
