import { parseGlob } from './glob.ts';
import { compileFilter, compileMatch, type Captures } from './match.ts';
import type { ReadyBy, Route, Rule } from './plan.ts';
import { route, type RoutedFile } from './route.ts';
import type { Sidecar } from './sidecar.ts';
import { quoted } from './text.ts';

/** A file's destination and the reasons for it, as shown by `dropcast explain`. */
export interface Explanation {
  readonly path: string;
  /** Verdicts on all rules of the folder, in order. */
  readonly rules: readonly RuleVerdict[];
  readonly route: Route;
  /** Keys set by the sidecar. Its `tags` are added to those of the rule. */
  readonly from_sidecar: readonly (keyof Sidecar)[];
}

export interface RuleVerdict {
  /** The rule's key, such as `folders[0].rules[1]`. */
  readonly rule: string;
  /** Line number in the configuration file, from 1. */
  readonly line: number;
  readonly match: string;
  /** True for the one rule that applies to the file. */
  readonly matched: boolean;
  /** Why the rule did not match the file, as a sentence fragment; null for the rule that did. */
  readonly reason: string | null;
  /** Captured values. Empty if the pattern does not match. */
  readonly captures: Captures;
}

const SIDECAR_KEYS = ['title', 'description', 'tags', 'channel', 'publish'] as const satisfies (keyof Sidecar)[];

/** Like `route`, but with a verdict on every rule. */
export function explainRoute(rules: readonly Rule[], file: RoutedFile, sidecar: Sidecar | null): Explanation {
  const decided = route(rules, file, sidecar);
  const taker = rules.find((rule) => compileMatch(rule.match)(file.path) !== null);
  return {
    path: file.path,
    rules: rules.map((rule) => verdict(rule, file.path, taker)),
    route: decided,
    from_sidecar: taker === undefined ? [] : SIDECAR_KEYS.filter((key) => sidecar?.[key] !== undefined),
  };
}

function verdict(rule: Rule, path: string, taker: Rule | undefined): RuleVerdict {
  const captures = compileMatch(rule.match)(path);
  const about = { rule: rule.key, line: rule.line, match: rule.match, captures: captures ?? {} };
  if (captures === null) return { ...about, matched: false, reason: whyNot(rule.match, path) };
  if (rule === taker) return { ...about, matched: true, reason: null };
  return { ...about, matched: false, reason: `an earlier rule matched first: ${taker?.key}` };
}

/** Explains why a pattern does not match a path by naming the first segment that differs. */
function whyNot(glob: string, path: string): string {
  const parsed = parseGlob(glob);
  if (!parsed.ok) return `invalid pattern: ${parsed.why}`;
  const misfit = firstMisfit(parsed.segments, path.split('/'));
  const cause = likelyCause(glob, path);
  if (cause !== null) return cause.why;
  return compileFilter([glob], [])(path) ? `${misfit}; upper and lower case matter in rules` : misfit;
}

function firstMisfit(wanted: readonly string[], given: readonly string[]): string {
  for (const [i, pattern] of wanted.entries()) {
    const part = given[i];
    if (pattern === '**' && i < wanted.length - 1) return lastMisfit(wanted.slice(i + 1), given.slice(i));
    if (part === undefined) return `the path ends before ${quoted(pattern)}`;
    if (pattern === '**') break;
    const misfit = partMisfit(pattern, part);
    if (misfit !== null) return misfit;
  }
  const left = given.slice(wanted.length);
  return left.length > 0 ? `the pattern ends before ${quoted(left.join('/'))}` : GENERAL;
}

/** Explains the last segment that differs. After a `**`, segments can only be compared from the end. */
function lastMisfit(wanted: readonly string[], given: readonly string[]): string {
  for (let back = 1; back <= wanted.length; back += 1) {
    const pattern = wanted.at(-back) ?? '';
    const part = given.at(-back);
    if (pattern === '**') break;
    if (part === undefined) return `the path has no folder for ${quoted(pattern)}`;
    const misfit = partMisfit(pattern, part);
    if (misfit !== null) return misfit;
  }
  return GENERAL;
}

const GENERAL = 'the path does not match the pattern';

function partMisfit(pattern: string, part: string): string | null {
  // An alternative with a slash spans several segments, so comparing it with one segment would give a wrong reason.
  if (pattern.includes('/')) return GENERAL;
  if (compileMatch(pattern)(part) !== null) return null;
  const isPlain = !/[*?[{]/u.test(pattern);
  return `${quoted(part)} ${isPlain ? 'is not' : 'does not match'} ${quoted(pattern)}`;
}

/**
 * The likely reason why a pattern does not match, and the change that would fix it: either `pattern` or `path` is set.
 */
export interface LikelyCause {
  /** The reason, as a sentence fragment. */
  readonly why: string;
  readonly pattern?: string;
  readonly path?: string;
}

/**
 * Finds the probable mistake when a rule's pattern does not match a path. Returns null if no single mistake explains
 * it. The suggested change is verified to produce a match. Pure.
 */
export function likelyCause(pattern: string, path: string): LikelyCause | null {
  if (compileMatch(pattern)(path) !== null) return null;
  return bySpaces(pattern, path) ?? byCase(pattern, path) ?? byStars(pattern, path) ?? byFolder(pattern, path);
}

function bySpaces(pattern: string, path: string): LikelyCause | null {
  const trimmed = path
    .split('/')
    .map((part) => part.trim())
    .join('/');
  if (trimmed === path || compileMatch(pattern)(trimmed) === null) return null;
  const part = path.split('/').find((one) => one !== one.trim()) ?? '';
  const where = part.trimStart() === part ? 'end' : 'beginning';
  return { why: `the name ${quoted(part)} has a space at the ${where}`, path: trimmed };
}

/** Checks for a difference in case. Rules are case-sensitive, unlike `include` and `exclude`. */
function byCase(pattern: string, path: string): LikelyCause | null {
  if (!compileFilter([pattern], [])(path)) return null;
  const parts = path.split('/');
  const variants = [path.toLowerCase(), path.toUpperCase()];
  // The path in the pattern's own case, wherever their segments differ only in case.
  const asWritten = parts.map((part, i) => {
    const wanted = pattern.split('/')[i];
    return wanted !== undefined && wanted.toLowerCase() === part.toLowerCase() ? wanted : part;
  });
  const extension = /[^.]*$/u;
  variants.push(
    asWritten.join('/'),
    path.replace(extension, (text) => text.toLowerCase()),
    asWritten.join('/').replace(extension, (text) => text.toLowerCase()),
  );
  const matching = variants.find((variant) => compileMatch(pattern)(variant) !== null);
  return matching === undefined
    ? null
    : { why: 'the case differs: upper and lower case matter in rules', path: matching };
}

function byStars(pattern: string, path: string): LikelyCause | null {
  const parts = pattern.split('/');
  for (const [i, part] of parts.entries()) {
    if (!part.includes('*') || part === '**') continue;
    const wider = part === '*' && i === parts.length - 1 ? '**' : `**/${part}`;
    const widened = [...parts.slice(0, i), wider, ...parts.slice(i + 1)].join('/');
    if (compileMatch(widened)(path) !== null)
      return { why: `\`*\` does not cross folders: write ${quoted(widened)}`, pattern: widened };
  }
  return null;
}

function byFolder(pattern: string, path: string): LikelyCause | null {
  const deeper = `**/${pattern}`;
  if (!pattern.startsWith('**') && compileMatch(deeper)(path) !== null)
    return {
      why: `the pattern is for the top of the folder, and the file lies deeper: write ${quoted(deeper)}`,
      pattern: deeper,
    };
  const inside = `${pattern.replace(/\/$/u, '')}/**`;
  if (compileMatch(inside)(path) !== null)
    return { why: `the pattern names a folder, not what is in it: write ${quoted(inside)}`, pattern: inside };
  return null;
}

/** Example: `30 min after it arrived`, `18:30 Europe/Berlin`. */
export function readyByWords(readyBy: ReadyBy): string {
  if ('afterMs' in readyBy) return `${Number((readyBy.afterMs / 60_000).toFixed(1))} min after it arrived`;
  return `${Math.floor(readyBy.minutes / 60)}:${String(readyBy.minutes % 60).padStart(2, '0')}${readyBy.zone === 'Etc/Unknown' ? '' : ` ${readyBy.zone}`}`;
}
