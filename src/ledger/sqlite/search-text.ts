import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { longestText } from '../../pipeline/file/selection.ts';

/**
 * Whether one of some columns has a text in it, in upper or lower case. SQLite's LIKE knows the cases of ASCII alone
 * (sqlite.org/lang_expr.html). GLOB with both cases of a letter knows all, and takes four times as long: it looks at what LIKE leaves.
 */
export function hasText(text: string, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  // SQLite ends a pattern at the first NUL, so that it would find something else; no file name has one.
  if (text.length > longestText || text.includes('\0')) return sql<boolean>`0`;
  const found = spellings(text).flatMap((spelling) => columns.map((column) => contains(column, spelling)));
  return sql<boolean>`(${sql.join(found, sql` or `)})`;
}

/** macOS writes `ü` into file names as two characters, a keyboard sends one. */
function spellings(text: string): readonly string[] {
  return [...new Set([text.normalize('NFC'), text.normalize('NFD')])];
}

function contains(column: RawBuilder<unknown>, text: string): RawBuilder<unknown> {
  const letters = Array.from(text.toWellFormed(), casesOf);
  const like = sql`${column} like ${`%${letters.map(likeLetter).join('')}%`} escape '\\'`;
  if (!letters.some(isBeyondLike)) return like;
  const glob = sql`${column} glob ${`*${letters.map(globLetter).join('')}*`}`;
  // Without a letter of its own LIKE leaves everything; the first letter leaves little, and is found in a third of the time of GLOB.
  return letters.every(isBeyondLike) ? sql`(${hasOneOf(column, letters[0])} and ${glob})` : sql`(${like} and ${glob})`;
}

function hasOneOf(column: RawBuilder<unknown>, cases: readonly string[] = []): RawBuilder<unknown> {
  return sql`(${sql.join(
    cases.map((letter) => sql`instr(${column}, ${letter})`),
    sql` or `,
  )})`;
}

/** The letter itself first. `ß` in upper case is two, and left out. */
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
