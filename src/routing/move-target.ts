import { parseTemplate } from './template.ts';
import type { TemplatePart } from './template.ts';

/**
 * Matches the directories that a move template can produce, so that nothing in them counts as new. A file that was
 * moved there is done, even if it has no row. If the template begins with fixed text, everything below that directory
 * is covered. If it begins with a word, every directory to which some file could be moved is covered.
 *
 * @returns null for a template that can produce any directory, such as `{name}`; only the ledger can recognise moved
 *   files then. `isVague` detects such templates
 */
export function moveTarget(template: string) {
  const segments = segmentsOf(template);
  if (!segments.some(isTelling)) return null;
  const firstWord = segments.findIndex((parts) => !isFixed(parts));
  const beginning = firstWord > 0 ? segments.slice(0, firstWord) : segments;
  const pattern = new RegExp(`^${beginning.map(patternOf).join('')}`, 'su');
  return {
    /** Whether a file is below a directory that the template can produce. */
    holdsFile: (path: string): boolean => pattern.test(path),
    /** Whether the template can produce this directory or one of its ancestors. */
    holdsDirectory: (path: string): boolean => pattern.test(`${path}/`),
  };
}

/** Whether a template can produce any directory, which would make moved files look like new ones. */
export function isVague(template: string): boolean {
  return !segmentsOf(template).some(isTelling);
}

type Segment = readonly TemplatePart[];

/** Splits a template at its own slashes. Values may contain more slashes. */
function segmentsOf(template: string): readonly Segment[] {
  const parsed = parseTemplate(template);
  const segments: TemplatePart[][] = [[]];
  for (const part of parsed.ok ? parsed.parts : []) {
    if (part.kind === 'word') segments.at(-1)?.push(part);
    else
      for (const [n, text] of part.text.split('/').entries()) {
        if (n > 0) segments.push([]);
        if (text !== '') segments.at(-1)?.push({ kind: 'text', text });
      }
  }
  return segments.filter((parts) => parts.length > 0 && !(isFixed(parts) && textOf(parts) === '.'));
}

function isFixed(parts: Segment): boolean {
  return parts.every(({ kind }) => kind === 'text');
}

function textOf(parts: Segment): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** Whether a segment sets the template's directory apart from others by a letter, a digit or a date. */
function isTelling(parts: Segment): boolean {
  return /[\p{L}\p{N}]/u.test(textOf(parts)) || parts.some((part) => part.kind === 'word' && isDate(part.word));
}

function isDate(word: string): boolean {
  return word === 'date' || word === 'date:local';
}

/** The pattern for a segment's values and the slash after it. See `renderDirectory` for the replacements. */
function patternOf(parts: Segment): string {
  if (isFixed(parts)) return `${escaped(clean(textOf(parts)))}/`;
  const pattern = parts
    .map((part, n) => (part.kind === 'text' ? textPattern(part.text, parts.slice(0, n)) : wordPattern(part.word)))
    .join('');
  // A word may be empty, and empty segments are dropped.
  return isTelling(parts) ? `${pattern}/` : `(?:${pattern}/)?`;
}

/**
 * Pattern for a rendered date. `undated` is for invalid times; dates after the year 9999 have a sign and six digits.
 */
const date = String.raw`(?:\d{4}-\d{2}-\d{2}|[+-]\d{6}-\d{2}-\d{2}|undated)`;

function wordPattern(word: string): string {
  if (isDate(word)) return date;
  return ['dir', 'dirs', 'path'].includes(word) ? '.*' : '[^/]*';
}

/**
 * The pattern for literal text in a segment. Leading dots become one `_`. A word between dots may be empty: `.{ext}.x`
 * then gives `_x`, because the second dot merges into the same `_`.
 */
function textPattern(text: string, before: Segment): string {
  const pieces = text
    .replace(/\p{Cc}/gu, '_')
    .split(/\.+/u)
    .map(escaped);
  const isInFirst = pieces.length > 1 && pieces[0] === '' && /^\.+$/u.test(textOf(before));
  return isInFirst ? `[._]*${pieces.slice(1).join('[._]+')}` : pieces.join('[._]+');
}

function clean(segment: string): string {
  return segment.replace(/\p{Cc}/gu, '_').replace(/^\.+/u, '_');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/gu, (character) => `\\${character}`);
}
