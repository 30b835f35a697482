import { codePoints, lowerCase } from './char-set.ts';
import { compileProgram, lowerCaseProgram, runProgram, type GlobProgram } from './glob-program.ts';
import { parseGlob } from './glob.ts';

/** The text that each `{name}` of a glob matched, by name. */
export type Captures = Readonly<Record<string, string>>;

export interface Matcher {
  /** The captures when the whole path matches, else null. The path is relative, with `/`. Never throws. */
  match(path: string): Captures | null;
}

/**
 * Compiles the glob of a rule. Case matters; names that start with a dot are ordinary names; a capture matches as few
 * characters as it can, from left to right. `news/**` matches everything inside `news`, not a file called `news`.
 *
 * An invalid glob matches nothing: `lintRules` reports it, and the configuration is invalid. A match takes at most
 * (length of the glob) × (length of the path) steps, whatever the names are.
 */
export function compileMatch(glob: string): Matcher {
  const parsed = parseGlob(glob);
  if (!parsed.ok) return { match: () => null };
  const program = compileProgram(parsed);
  return {
    match(path) {
      const texts = runProgram(program, codePoints(path));
      return texts && Object.fromEntries(program.captures.map((name, i) => [name, texts[i] ?? '']));
    },
  };
}

/**
 * Compiles `include` and `exclude` to one predicate: at least one pattern of `include` must match a path and none of
 * `exclude`. Unlike in rules, case does not matter: cameras write CLIP.MP4.
 */
export function compileFilter(include: readonly string[], exclude: readonly string[]): (path: string) => boolean {
  const isIncluded = compileAny(include);
  const isExcluded = compileAny(exclude);
  return (path) => isIncluded(path) && !isExcluded(path);
}

const BY_EXTENSION = /^\*\*\/\*\.(?:\{([a-z0-9]+(?:,[a-z0-9]+)+)\}|([a-z0-9]+))$/i;

/**
 * Each rescan filters every file (100,000 files a minute, design section 12), nearly always with a list of extensions,
 * which takes one lookup instead of a run of the program.
 */
function compileAny(globs: readonly string[]): (path: string) => boolean {
  const extensions = new Set<string>();
  const programs: GlobProgram[] = [];
  for (const glob of globs) {
    const [, list, only] = BY_EXTENSION.exec(glob) ?? [];
    const parsed = parseGlob(glob);
    const listed = list ?? only;
    if (listed !== undefined) for (const extension of listed.toLowerCase().split(',')) extensions.add(extension);
    else if (parsed.ok) programs.push(lowerCaseProgram(compileProgram(parsed)));
  }
  return (path) => extensions.has(extensionOf(path)) || matchesAny(programs, path);
}

function matchesAny(programs: readonly GlobProgram[], path: string): boolean {
  if (programs.length === 0) return false;
  const text = codePoints(path).map(lowerCase);
  return programs.some((program) => runProgram(program, text) !== null);
}

function extensionOf(path: string): string {
  const dot = path.lastIndexOf('.');
  return dot === -1 ? '' : path.slice(dot + 1).toLowerCase();
}
