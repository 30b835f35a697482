import { didYouMean } from './did-you-mean.ts';
import { parseGlob, type Glob } from './glob.ts';
import { isVague } from './move-target.ts';
import { covers, firstTakers, type CompiledRule } from './unreachable-rules.ts';
import { parseTemplate, TEMPLATE_WORDS } from './template.ts';
import { distinct, quoted } from './text.ts';

/** A rule as written, before any check. */
export interface LooseRule {
  readonly key: string;
  readonly match?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[];
}

export interface RuleFinding {
  /** The faulty value's key, such as `folders[0].rules[1].title` or `folders[0].rules[1].tags[0]`. */
  readonly key: string;
  /** An error makes the configuration invalid. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

interface ReadRule {
  readonly rule: LooseRule;
  readonly pattern: Glob | null;
}

/**
 * Finds mistakes in the rules of one folder, in rule order: invalid patterns and templates, unknown words, and rules
 * that are certain never to match because earlier ones match everything first. Captures are not checked in a rule with
 * an invalid pattern.
 */
export function lintRules(rules: readonly LooseRule[]): readonly RuleFinding[] {
  const read = rules.map((rule) => ({ rule, pattern: rule.match === undefined ? null : checkPattern(rule.match) }));
  return read.flatMap((one, i) => [
    ...patternFindings(one),
    ...shadowFindings(one, read.slice(0, i)),
    ...templateFindings(one, read),
  ]);
}

function patternFindings({ rule, pattern }: ReadRule): RuleFinding[] {
  if (pattern === null) return [];
  const key = `${rule.key}.match`;
  if (!pattern.ok) return [{ key, severity: 'error', message: `invalid pattern: ${pattern.why}` }];
  const hiding = pattern.program.captures
    .filter(isTemplateWord)
    .map((name) => `the capture {${name}} hides the built-in word {${name}} in this rule; rename it to use both`);
  return [...hiding, ...unusedEnding(rule, pattern.program.captures)].map((message) => ({
    key,
    severity: 'warning',
    message,
  }));
}

/** Warns about a pattern such as `*.{mp4}`, which looks like a list of one extension but matches every file. */
function unusedEnding(rule: LooseRule, captures: readonly string[]): string[] {
  const last = captures.at(-1);
  if (last === undefined || rule.match?.endsWith(`.{${last}}`) !== true) return [];
  const isUsed = templatesOf(rule).some(({ template }) => wordsOf(template).includes(last));
  return isUsed ? [] : [`{${last}} captures any extension; remove the braces to match only ".${last}"`];
}

/** Warns about a rule that earlier rules make unreachable. Skips rules with invalid patterns. */
function shadowFindings(one: ReadRule, earlier: readonly ReadRule[]): RuleFinding[] {
  const [rule] = compiled(one);
  if (rule === undefined) return [];
  const takers = firstTakers(rule.program, earlier.flatMap(compiled));
  if (takers.length === 0) return [];
  const names = takers.map(({ key, match }) => `${key} (${quoted(match)})`).join(' and ');
  const message = `can never match: ${names} ${takers.length > 1 ? 'together match' : 'matches'} every path first`;
  return [{ key: `${rule.key}.match`, severity: 'warning', message }];
}

function compiled({ rule, pattern }: ReadRule): CompiledRule[] {
  return pattern?.ok === true ? [{ key: rule.key, match: rule.match ?? '', program: pattern.program }] : [];
}

function templateFindings({ rule, pattern }: ReadRule, all: readonly ReadRule[]): RuleFinding[] {
  return templatesOf(rule).flatMap(({ key, template }) => {
    const parsed = parseTemplate(template);
    if (!parsed.ok) return [{ key, severity: 'error' as const, message: parsed.why }];
    // The captures of an invalid pattern are unknown.
    if (pattern === null || !pattern.ok) return [];
    const unknown = wordsOf(template).filter(
      (word) => !isTemplateWord(word) && !pattern.program.captures.includes(word),
    );
    return [...new Set(unknown)].map((word) => ({
      key,
      severity: 'error' as const,
      message: unknownWord(word, pattern.program.captures, all),
    }));
  });
}

function unknownWord(word: string, captures: readonly string[], all: readonly ReadRule[]): string {
  const elsewhere = all.find(({ pattern }) => pattern?.ok === true && pattern.program.captures.includes(word));
  if (elsewhere !== undefined) return `${elsewhere.rule.key} captures {${word}}, but the match of this rule does not`;
  const known = distinct([...captures, ...TEMPLATE_WORDS]);
  const meant = didYouMean(word, known);
  if (meant !== null) return `unknown word {${word}}, did you mean {${meant}}?`;
  return `unknown word {${word}}; use one of ${known.map((name) => `{${name}}`).join(' ')}`;
}

/** Describes the mistake in an `include` or `exclude` pattern, or returns null. */
export function lintGlob(glob: string): string | null {
  const pattern = checkPattern(glob);
  if (!pattern.ok) return pattern.why;
  const [name] = pattern.program.captures;
  if (name === undefined) return null;
  return `captures like {${name}} work only in rules; write ${quoted(name)} without braces, or "*"`;
}

/** Parses a pattern. Rejects invalid patterns and those that can never match a path relative to the folder. */
function checkPattern(glob: string): Glob {
  const foreign = foreignSyntax(glob);
  if (foreign !== null) return { ok: false, why: foreign };
  const parsed = parseGlob(glob);
  if (!parsed.ok) return parsed;
  const why = impossibleSegment(parsed.segments) ?? (covers([], parsed.program) ? 'no path can match it' : null);
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

/**
 * Describes the mistake in the directory of `after_ready: { move: … }`, or returns null. The directory is a template
 * without captures, because it belongs to the folder and not to a rule.
 */
export function lintMoveTemplate(template: string): string | null {
  const parsed = parseTemplate(template);
  if (!parsed.ok) return parsed.why;
  const word = wordsOf(template).find((name) => !isTemplateWord(name));
  if (word !== undefined) return unknownWord(word, [], []);
  if (template.includes('\\')) return 'it contains a backslash; write "/" between directories';
  if (template.startsWith('/')) return 'it must be a directory inside the folder, without "/" at the start';
  const segments = template.split('/').filter((segment) => segment !== '');
  if (segments.includes('..')) return 'it must be a directory inside the folder, without ".."';
  if (segments.some((segment) => segment.startsWith('.') && segment !== '.'))
    return 'no directory in it may be hidden (start with ".")';
  const moves = segments.some((segment) => !['.', '{dir}', '{dirs}'].includes(segment));
  return moves ? null : 'it would leave every file where it is; name a directory, as in "done/{date}"';
}

/** Describes a risk in a valid `after_ready: { move: … }` directory, or returns null. */
export function doubtMoveTemplate(template: string): string | null {
  if (lintMoveTemplate(template) !== null || !isVague(template)) return null;
  return 'it could mean any directory, so without its ledger dropcast would upload the moved files again; begin with a name, as in "done/{name}"';
}

function templatesOf({ key, title, description, tags = [] }: LooseRule) {
  return [
    { key: `${key}.title`, template: title ?? '' },
    { key: `${key}.description`, template: description ?? '' },
    ...tags.map((template, i) => ({ key: `${key}.tags[${i}]`, template })),
  ];
}

function wordsOf(template: string): string[] {
  const parsed = parseTemplate(template);
  return parsed.ok ? parsed.parts.flatMap((part) => (part.kind === 'word' ? [part.word] : [])) : [];
}

function isTemplateWord(word: string): boolean {
  return TEMPLATE_WORDS.some((known) => known === word);
}
