import { codePoints, lowerCase, lowerCaseProgram, runProgram, type GlobProgram } from './glob-program.ts';
import { parseGlob } from './glob.ts';

/** The text matched by each `{name}` in a glob, keyed by name. */
export type Captures = Readonly<Record<string, string>>;

/**
 * Compiles a rule's glob. Case matters, names that start with a dot are not special, and captures match as few
 * characters as possible, from left to right. `news/**` matches everything inside `news`, but not a file called `news`.
 *
 * An invalid glob matches nothing; `lintRules` reports it and the configuration is rejected. A match takes at most
 * (glob length) × (path length) steps for any file name.
 *
 * @returns the captures of a relative path with `/`; null if the whole path does not match. Never throws
 */
export function compileMatch(glob: string): (path: string) => Captures | null {
  const parsed = parseGlob(glob);
  if (!parsed.ok) return () => null;
  const { program } = parsed;
  return (path) => {
    const texts = runProgram(program, codePoints(path));
    return texts && Object.fromEntries(program.captures.map((name, i) => [name, texts[i] ?? '']));
  };
}

/**
 * Compiles `include` and `exclude` to one predicate: a path must match at least one `include` pattern and no `exclude`
 * pattern. Unlike in rules, case is ignored because cameras write CLIP.MP4.
 */
export function compileFilter(include: readonly string[], exclude: readonly string[]): (path: string) => boolean {
  const isIncluded = compileAny(include);
  const isExcluded = compileAny(exclude);
  return (path) => isIncluded(path) && !isExcluded(path);
}

const BY_EXTENSION = /^\*\*\/\*\.(?:\{([a-z0-9]+(?:,[a-z0-9]+)+)\}|([a-z0-9]+))$/i;

/**
 * Compiles a list of globs. Most lists contain only extensions, which need a single lookup instead of running the
 * programs. That matters because each rescan filters every file (100,000 files a minute, design section 12).
 */
function compileAny(globs: readonly string[]): (path: string) => boolean {
  const extensions = new Set<string>();
  const programs: GlobProgram[] = [];
  for (const glob of globs) {
    const [, list, only] = BY_EXTENSION.exec(glob) ?? [];
    const parsed = parseGlob(glob);
    const listed = list ?? only;
    if (listed !== undefined) for (const extension of listed.toLowerCase().split(',')) extensions.add(extension);
    else if (parsed.ok) programs.push(lowerCaseProgram(parsed.program));
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
