import { covers } from './unreachable-rules.ts';
import { compileProgram } from './glob-program.ts';
import { parseGlob, type Glob } from './glob.ts';
import { quoted } from './text.ts';

/** A pattern that a configuration may contain, or the reason why it may not. */
export type CheckedPattern = Extract<Glob, { ok: true }> | { readonly ok: false; readonly why: string };

/** Parses a pattern. Rejects invalid patterns and those that can never match a path relative to the folder. */
export function checkPattern(glob: string): CheckedPattern {
  const foreign = foreignSyntax(glob);
  if (foreign !== null) return { ok: false, why: foreign };
  const parsed = parseGlob(glob);
  if (!parsed.ok) return parsed;
  const why =
    impossibleSegment(parsed.segments) ?? (covers([], compileProgram(parsed)) ? 'no path can match it' : null);
  return why === null ? parsed : { ok: false, why };
}

/** Rejects syntax from other tools that dropcast does not support. Read literally, it would silently match nothing. */
function foreignSyntax(glob: string): string | null {
  if (glob.replaceAll('[\\]', '').includes('\\')) {
    return 'a backslash has no meaning in patterns; write "/" between folders, and "[*]" for the character "*"';
  }
  if (glob.startsWith('!')) {
    return 'a leading "!" does not negate; use exclude or an earlier rule (write "?" to match a name that starts with "!")';
  }
  if (/\([^()[\]/]*\|[^()[\]/]*\)/u.test(glob)) {
    return 'write alternatives as {a,b}, not (a|b) (write "[|]" for the character itself)';
  }
  return null;
}

function impossibleSegment(segments: readonly string[]): string | null {
  if (segments[0] === '') return 'it starts with "/", but paths are relative to the folder';
  if (segments.at(-1) === '') return 'it ends with "/", but patterns match files; add "**" to match everything inside';
  if (segments.includes('')) return 'it has nothing between two slashes';
  const dots = segments.find((segment) => segment === '.' || segment === '..');
  return dots === undefined ? null : `${quoted(dots)} never occurs in a path relative to the folder`;
}
