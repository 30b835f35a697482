import { covers } from './covers.ts';
import { compileProgram } from './glob-program.ts';
import { parseGlob, type Glob } from './glob.ts';
import { quoted } from './text.ts';

/** A pattern that a configuration may hold, or why not. */
export type CheckedPattern = Extract<Glob, { ok: true }> | { readonly ok: false; readonly why: string };

/** Reads a pattern and refuses what is broken and what can never match a path relative to the folder. */
export function checkPattern(glob: string): CheckedPattern {
  const foreign = foreignSyntax(glob);
  if (foreign !== null) return { ok: false, why: foreign };
  const parsed = parseGlob(glob);
  if (!parsed.ok) return parsed;
  const why =
    impossibleSegment(parsed.segments) ?? (covers([], compileProgram(parsed)) ? 'no path can match it' : null);
  return why === null ? parsed : { ok: false, why };
}

/** What other tools' patterns have and ours do not: read as plain characters, it would silently match nothing. */
function foreignSyntax(glob: string): string | null {
  if (glob.replaceAll('[\\]', '').includes('\\')) {
    return 'a backslash neither separates folders (write "/") nor escapes (write "[*]" for the character "*")';
  }
  if (glob.startsWith('!')) {
    return 'a leading "!" does not negate; use exclude, or an earlier rule (for a name that starts with "!" write "?")';
  }
  if (/\([^()[\]/]*\|[^()[\]/]*\)/u.test(glob)) {
    return 'alternatives are written {a,b}, not (a|b) (for the character "|" itself write "[|]")';
  }
  return null;
}

function impossibleSegment(segments: readonly string[]): string | null {
  if (segments[0] === '') return 'it starts with "/", but paths are relative to the folder';
  if (segments.at(-1) === '') return 'it ends with "/", but only files are matched; for all that is inside add "**"';
  if (segments.includes('')) return 'it has an empty part between two slashes';
  const dots = segments.find((segment) => segment === '.' || segment === '..');
  return dots === undefined ? null : `${quoted(dots)} never stands in a path relative to the folder`;
}
