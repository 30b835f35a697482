import { LineCounter, parseDocument } from 'yaml';
import type { Document, ScalarTag, YAMLError } from 'yaml';
import { error, type Finding, type Position } from './finding.ts';
import type { KeyPath } from './key-path.ts';
import { SECRET_TAGS, TaggedValue } from './tagged-value.ts';
import { YamlTree } from './yaml-tree.ts';

/** Longest configuration that is read, in bytes and in characters. */
export const MAX_CONFIG_SIZE = 1024 * 1024;
/** Longest sidecar: the worst garbage of this size takes a quarter of a second, of 1 MiB several seconds. */
const MAX_SIDECAR_SIZE = 64 * 1024;
const MAX_PROBLEMS = 20;

const EXAMPLES = { env: '!env DROPCAST_API_KEY', file: '!file api_key', credential: '!credential api_key' } as const;

/** A problem of the text itself, where no key can be named. */
export interface TextProblem extends Position {
  readonly message: string;
}

export interface ConfigDocument {
  /** Plain data with {@link TaggedValue}s in it; `undefined` when the text is no YAML at all. */
  readonly value: unknown;
  readonly problems: readonly TextProblem[];
  readonly findings: readonly Finding[];
  /** Where a key or its value stands; for what is not there, where its nearest parent stands. */
  locate(path: KeyPath, at: Finding['at']): Position;
}

/** Parses YAML 1.2 (core schema, no merge keys) and keeps the positions. What the library only warns of is a problem here. */
export function parseConfigDocument(text: string): ConfigDocument {
  return parse(text, { tags: secretTags, maxSize: MAX_CONFIG_SIZE });
}

/** For sidecar files: plain data, or the first problem. No tags of ours, at most 65,536 characters. JSON is YAML too. */
export function parseYaml(
  text: string,
): { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & TextProblem) {
  const document = parse(text, { tags: [], maxSize: MAX_SIDECAR_SIZE });
  const [problem] = [
    ...document.problems,
    ...document.findings.map(({ path, at, place, message }) => ({ ...(place ?? document.locate(path, at)), message })),
  ].toSorted((a, b) => a.line - b.line || a.column - b.column);
  return problem === undefined ? { ok: true, value: document.value } : { ok: false, ...problem };
}

/** A document that could not be read: one problem, no value. */
export function unreadable(message: string, place: Position = { line: 1, column: 1 }): ConfigDocument {
  return { value: undefined, problems: [{ ...place, message }], findings: [], locate: () => ({ line: 1, column: 1 }) };
}

function parse(text: string, limits: { tags: ScalarTag[]; maxSize: number }): ConfigDocument {
  if (text.length > limits.maxSize) return unreadable(`longer than ${limits.maxSize / 1024} KiB`);
  const forbidden = forbiddenCharacter(text);
  if (forbidden !== null) return unreadable(forbidden.message, forbidden);

  const lineCounter = new LineCounter();
  const position = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = parseDocument(text, {
    lineCounter,
    // Would copy source lines into messages, and with them a key.
    prettyErrors: false,
    // `silent` would also hide that there is a second document.
    logLevel: 'error',
    // The library compares each key with each other: 18 s for 40,000 keys. The tree finds duplicates itself.
    uniqueKeys: false,
    resolveKnownTags: false,
    customTags: limits.tags,
  });
  const problems = syntaxProblems(document, position);
  if (problems.length > 0) return { ...unreadable(''), problems };
  const tree = new YamlTree(document.contents, position);
  const findings = [...tagFindings(document, tree, position), ...tree.findings];
  return { value: tree.value, problems: [], findings, locate: (path, at) => tree.locate(path, at) };
}

/** YAML 1.2.2, section 5.1: the characters that a YAML text may hold. The library lets all others pass. */
function forbiddenCharacter(text: string): TextProblem | null {
  const found = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(text);
  if (found === null) return null;
  const before = text.slice(0, found.index);
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return {
    line: before.split('\n').length,
    column: found.index - before.lastIndexOf('\n'),
    message: `the control character U+${code} cannot stand in YAML; is this a text file?`,
  };
}

const secretTags: ScalarTag[] = SECRET_TAGS.map((tag) => ({
  tag: `!${tag}`,
  resolve: (argument, onError) => {
    if (argument.trim() === '') onError(`nothing stands after !${tag}; write it like ${EXAMPLES[tag]}`);
    return new TaggedValue(tag, argument.trim());
  },
}));

/** At most one problem a line: a second one there mostly follows from the first. */
function syntaxProblems(document: Document.Parsed, position: (offset: number) => Position): TextProblem[] {
  const problems = new Map<number, TextProblem>();
  const directive = document.directives.yaml;
  if (directive.explicit === true && directive.version !== '1.2')
    problems.set(1, { line: 1, column: 1, message: `%YAML ${directive.version} is another version; only 1.2 is read` });
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
      return 'a tab cannot indent YAML; use spaces';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here (---); only one is read';
    case 'RESOURCE_EXHAUSTION':
      return 'nested too deeply';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'a key cannot start here; check the indentation, and quote text that holds ": "';
    case 'BAD_SCALAR_START':
      return `text cannot start with ${issue.message.at(-1)}; put it in quotes`;
    case 'MISSING_CHAR':
      if (issue.message.startsWith('Missing closing')) return 'a text in quotes is not closed before this place';
      return `not valid YAML: ${issue.message}`;
    case 'BAD_DQ_ESCAPE':
      return 'unknown \\ escape in double quotes; single quotes take a \\ as it is';
    default:
      // Some messages end with a piece of the source, which may be a key: cut.
      return `not valid YAML: ${issue.message.replace(/: .*$/s, '')}`;
  }
}

function tagFindings(document: Document.Parsed, tree: YamlTree, position: (offset: number) => Position): Finding[] {
  return [...document.errors, ...document.warnings].slice(0, MAX_PROBLEMS).map((issue) => ({
    ...error(tree.pathAt(issue.pos[0]), tagMessage(issue)),
    place: position(issue.pos[0]),
  }));
}

function tagMessage(issue: YAMLError): string {
  if (issue.message.startsWith('nothing stands after')) return issue.message;
  const known = SECRET_TAGS.find((tag) => issue.message === `Unresolved tag: !${tag}`);
  if (known !== undefined) return `!${known} cannot be used here; write it like api_key: ${EXAMPLES[known]}`;
  return 'unknown tag; put text that starts with ! in quotes';
}
