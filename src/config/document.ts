import { Lexer, LineCounter, parseDocument, stringify } from 'yaml';
import type { Document, ScalarTag, YAMLError } from 'yaml';
import { byPlace, type Finding, type Position } from './problem.ts';
import { SECRET_TAGS, TaggedValue, type KeyPath, type SecretTag } from './raw-tree.ts';
import { YamlTree } from './yaml-tree.ts';

/** Maximum size of a configuration, in bytes and in characters. */
export const MAX_CONFIG_SIZE = 1024 * 1024;
const MAX_SIDECAR_SIZE = 64 * 1024;
/**
 * Maximum number of tokens in a sidecar. A hundred tags make about five hundred. On a small server without a JIT
 * compiler, parsing takes up to 40 µs per token, so 64 KiB of tokens would block everything for a second or more.
 * Counting tokens takes a fraction of that.
 */
const MAX_SIDECAR_PARTS = 1500;
const MAX_PROBLEMS = 20;

const EXAMPLES = { env: '!env DROPCAST_API_KEY', file: '!file api_key', credential: '!credential api_key' } as const;

/** The error message for a tag without a value. */
const emptyTag = (tag: SecretTag): string => `!${tag} has nothing after it; write it like ${EXAMPLES[tag]}`;

/** A problem with the text itself rather than with a key. */
export interface TextProblem extends Position {
  readonly message: string;
}

export interface ConfigDocument {
  /** Plain data that may contain {@link TaggedValue}s; `undefined` if the text is not YAML. */
  readonly value: unknown;
  readonly problems: readonly TextProblem[];
  readonly findings: readonly Finding[];
  /** Returns the position of a key or its value, or that of the nearest existing parent. */
  locate(path: KeyPath, at: Finding['at']): Position;
}

/** Parses YAML 1.2 (core schema, no merge keys) and keeps positions. Library warnings are reported as problems. */
export function parseConfigDocument(text: string): ConfigDocument {
  return parse(text, { tags: secretTags, maxSize: MAX_CONFIG_SIZE, maxParts: Infinity });
}

/**
 * Parses a sidecar file (YAML or JSON) to plain data or the first problem. Accepts no tags, and at most 65,536
 * characters and 1,500 tokens.
 */
export function parseYaml(
  text: string,
): { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & TextProblem) {
  const document = parse(text, { tags: [], maxSize: MAX_SIDECAR_SIZE, maxParts: MAX_SIDECAR_PARTS });
  const [problem] = [
    ...document.problems,
    ...document.findings.map(({ path, at, place, message }) => ({ ...(place ?? document.locate(path, at)), message })),
  ].toSorted(byPlace);
  return problem === undefined ? { ok: true, value: document.value } : { ok: false, ...problem };
}

/** Maximum number of tokens in rules that are tried. Two hundred rules make about four thousand. */
const MAX_TRIAL_PARTS = 6000;

/** Parses rules that are tried on the page. Accepts no tags, so that nothing is read to check them. */
export function parseTrial(text: string): ConfigDocument {
  return parse(text, { tags: [], maxSize: MAX_SIDECAR_SIZE, maxParts: MAX_TRIAL_PARTS });
}

/** Returns a value as YAML. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0 });
}

/** A document that could not be read: one problem and no value. */
export function unreadable(message: string, place: Position = { line: 1, column: 1 }): ConfigDocument {
  return { value: undefined, problems: [{ ...place, message }], findings: [], locate: () => ({ line: 1, column: 1 }) };
}

function parse(text: string, limits: { tags: ScalarTag[]; maxSize: number; maxParts: number }): ConfigDocument {
  if (text.length > limits.maxSize) return unreadable(`longer than ${limits.maxSize / 1024} KiB, the maximum`);
  const forbidden = forbiddenCharacter(text);
  if (forbidden !== null) return unreadable(forbidden.message, forbidden);
  if (hasMoreParts(text, limits.maxParts))
    return unreadable(
      `more than ${limits.maxParts.toLocaleString('en')} parts, the maximum${limits.maxParts === MAX_SIDECAR_PARTS ? '; a sidecar needs a few lines' : ''}`,
    );

  const lineCounter = new LineCounter();
  const position = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = parseDocument(text, {
    lineCounter,
    // Pretty errors copy source lines into messages, and a source line may contain a key.
    prettyErrors: false,
    // `silent` would also hide a second document.
    logLevel: 'error',
    // The library compares each key with all others, which takes 18 s for 40,000 keys. `YamlTree` finds duplicates
    // instead.
    uniqueKeys: false,
    resolveKnownTags: false,
    customTags: limits.tags,
  });
  const problems = syntaxProblems(document, position);
  if (problems.length > 0) return { ...unreadable(''), problems };
  const tree = new YamlTree(document.contents, position);
  const findings = [...tagFindings(document, tree, limits.tags), ...tree.findings];
  return { value: tree.value, problems: [], findings, locate: (path, at) => tree.locate(path, at) };
}

/** Whether text has more than `most` tokens. Stops counting at that limit. */
function hasMoreParts(text: string, most: number): boolean {
  if (most === Infinity) return false;
  let parts = 0;
  for (const _ of new Lexer().lex(text)) if ((parts += 1) > most) return true;
  return false;
}

/** Finds a character that YAML does not allow (YAML 1.2.2, section 5.1). The library accepts any character. */
function forbiddenCharacter(text: string): TextProblem | null {
  const found = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(text);
  if (found === null) return null;
  const before = text.slice(0, found.index);
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return {
    line: before.split('\n').length,
    column: found.index - before.lastIndexOf('\n'),
    message: `the character U+${code} is not allowed in YAML; is this a text file?`,
  };
}

const secretTags: ScalarTag[] = SECRET_TAGS.map((tag) => ({
  tag: `!${tag}`,
  resolve: (argument, onError) => {
    if (argument.trim() === '') onError(emptyTag(tag));
    return new TaggedValue(tag, argument.trim());
  },
}));

/** Reports at most one problem per line, because a second one usually follows from the first. */
function syntaxProblems(document: Document.Parsed, position: (offset: number) => Position): TextProblem[] {
  const problems = new Map<number, TextProblem>();
  const directive = document.directives.yaml;
  if (directive.explicit === true && directive.version !== '1.2')
    problems.set(1, { line: 1, column: 1, message: `%YAML ${directive.version} is not supported; write YAML 1.2` });
  for (const issue of [...document.errors, ...document.warnings]) {
    if (problems.size === MAX_PROBLEMS) break;
    if (isTagIssue(issue)) continue;
    const place = position(issue.pos[0]);
    if (!problems.has(place.line)) problems.set(place.line, { ...place, message: syntaxMessage(issue) });
  }
  return [...problems.values()];
}

function isTagIssue(issue: YAMLError): boolean {
  return issue.code === 'TAG_RESOLVE_FAILED' || issue.code === 'BAD_COLLECTION_TYPE';
}

function syntaxMessage(issue: YAMLError): string {
  switch (issue.code) {
    case 'TAB_AS_INDENT':
      return 'indented with a tab, which YAML does not allow; use spaces';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here (---), but the file must hold one; remove the line';
    case 'RESOURCE_EXHAUSTION':
      return 'nested too deeply';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'a key cannot start here; check the indentation, and quote text that contains ": "';
    case 'BAD_SCALAR_START':
      return `text cannot start with ${issue.message.at(-1)}; put it in quotes`;
    case 'MISSING_CHAR':
      if (issue.message.startsWith('Missing closing'))
        return 'a quoted text is not closed before this point; add the closing quote';
      return `not valid YAML: ${issue.message}`;
    case 'BAD_DQ_ESCAPE':
      return 'unknown \\ escape; in single quotes, \\ is literal';
    default:
      // Some messages end with a piece of the source, which may contain a key.
      return `not valid YAML: ${issue.message.replace(/: .*$/s, '')}`;
  }
}

function tagFindings(document: Document.Parsed, tree: YamlTree, accepted: readonly ScalarTag[]): Finding[] {
  return [...document.errors, ...document.warnings]
    .slice(0, MAX_PROBLEMS)
    .map((issue) => tree.at(issue.pos[0], tagMessage(issue, accepted)));
}

function tagMessage({ message }: YAMLError, accepted: readonly ScalarTag[]): string {
  const empty = SECRET_TAGS.map(emptyTag).find((known) => known === message);
  if (empty !== undefined) return empty;
  const known = SECRET_TAGS.find((tag) => message === `Unresolved tag: !${tag}`);
  if (known === undefined || accepted.length === 0) return 'unknown tag; put text that starts with ! in quotes';
  return `!${known} takes one name or path, not a list or mapping; write it like api_key: ${EXAMPLES[known]}`;
}
