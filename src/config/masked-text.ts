import { CST, isAlias, isScalar, Lexer, parseDocument, visit } from 'yaml';
import type { Node, Pair, Scalar } from 'yaml';
import { isSecretKey } from '../log/redaction.ts';
import { decoded } from './addresses.ts';
import { MAX_CONFIG_SIZE } from './document.ts';

/** The text of a configuration that is safe to show to others. */
export interface MaskedText {
  /** The same lines, with everything that may be secret masked. */
  readonly text: string;
  /** The masked values in parsed form, which must not appear anywhere else either. */
  readonly secrets: readonly string[];
}

const MASK = '[redacted]';

/**
 * Masks what may be secret in a configuration, even an invalid one: values of secret keys in any notation (quoted, in
 * blocks, behind anchors), addresses other than the service's, and words that look like keys, including those in
 * comments.
 */
export function maskedText(text: string): MaskedText {
  if (text.length > MAX_CONFIG_SIZE) return { text: `${MASK}: longer than a configuration may be\n`, secrets: [] };
  const found = [...secretScalars(text), ...secretComments(text)].toSorted((one, other) => other.from - one.from);
  const masked = found.reduce((rest, { from, to, instead }) => rest.slice(0, from) + instead + rest.slice(to), text);
  return { text: withoutSecretLines(masked), secrets: found.flatMap(({ values }) => values) };
}

interface MaskedRange {
  readonly from: number;
  readonly to: number;
  readonly instead: string;
  readonly values: readonly string[];
}

function secretScalars(text: string): readonly MaskedRange[] {
  const document = parseDocument(text, { logLevel: 'silent', prettyErrors: false, uniqueKeys: false });
  const places = new Map<Node, MaskedRange>();
  const add = (node: Scalar, keys: readonly string[]): void => {
    const place = placeOf(node, keys, text);
    if (place !== null) places.set(node, place);
  };
  visit(document, (_, node, path) => {
    const keys = keysOf(path as readonly Pair[]);
    if (isScalar(node) && path.at(-1) !== undefined && !isKey(node, path.at(-1))) add(node, keys);
    if (!isAlias(node)) return;
    const meant = node.resolve(document);
    if (meant !== undefined) visit(meant, { Scalar: (__, scalar) => add(scalar, keys) });
  });
  return [...places.values()];
}

function keysOf(path: readonly Pair[]): readonly string[] {
  return path.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
}

function isKey(node: Scalar, parent: unknown): boolean {
  return typeof parent === 'object' && parent !== null && 'key' in parent && parent.key === node;
}

/** Notification keys whose values would let people read or write notifications. */
const alsoSecret = new Set(['url', 'topic', 'headers', 'auth', 'user', 'smtp', 'pass']);

/**
 * The part of a scalar to mask; null if there is nothing to mask.
 *
 * @param keys of the enclosing mappings, outermost first
 */
function placeOf({ value, tag, range }: Scalar, keys: readonly string[], text: string): MaskedRange | null {
  const [from, end] = range ?? [0, 0];
  if (end <= from || value === null || typeof value === 'boolean') return null;
  // The range of a block scalar includes its final line break, which stays.
  const to = from + text.slice(from, end).trimEnd().length;
  const words = typeof value === 'string' ? value : JSON.stringify(value);
  // Removed line breaks are added back so that line numbers stay the same.
  const ends = '\n'.repeat(text.slice(from, to).split('\n').length - 1);
  const values = [words.trim(), ...passwordsIn(words)];
  const place = (instead: string): MaskedRange => ({ from, to, instead: instead + ends, values });
  // An argument that is not a variable name may be the secret itself, put there by mistake.
  if (tag === '!env') return /^[A-Z][A-Z0-9_]*$/.test(words) ? null : place(MASK);
  if (tag === '!file' || tag === '!credential') return looksSecret(words) ? place(MASK) : null;
  if (keys.some((key) => isSecretKey(key) || alsoSecret.has(key.toLowerCase()))) return place(MASK);
  // Command arguments may be ordinary words that also occur elsewhere.
  if (keys.at(-1) === 'command')
    return words.startsWith('/') ? null : { ...place(MASK), values: words.split(/\s+/).filter(looksSecret) };
  const isService = keys.at(-1) === 'base_url';
  if (isService || words.includes('://')) {
    const left = isService ? withoutAccess(words) : originOf(words);
    return left === words ? null : place(left);
  }
  return looksSecret(words) ? place(MASK) : null;
}

function secretComments(text: string): readonly MaskedRange[] {
  let offset = 0;
  return [...new Lexer().lex(text)].flatMap((token) => {
    const type = CST.tokenType(token);
    const from = offset;
    if (type !== 'doc-mode' && type !== 'flow-error-end' && type !== 'scalar') offset += token.length;
    if (type !== 'comment' || !isTelling(token)) return [];
    return [{ from, to: from + token.trimEnd().length, instead: `# ${MASK}`, values: [] }];
  });
}

function isTelling(comment: string): boolean {
  return /:\/\/|@/.test(comment) || comment.split(/[\s"'=:,{}[\]]+/).some(looksSecret);
}

/** Whether a word looks machine-generated: long, made of letters and digits, and not a path. */
export function looksSecret(word: string): boolean {
  return (
    /^(?:sk|pk|rk|tk|ghp|gho|xox[a-z]|whsec|AKIA|eyJ)[\w-]{4,}/.test(word) ||
    (word.length >= 20 && /^[\w+/=.~-]+$/.test(word) && /\d/.test(word) && /[a-z]/i.test(word) && !/^[./~]/.test(word))
  );
}

/**
 * Masks everything in an address that may grant access: user, password, secret parts of the path, query and fragment. A
 * password may contain any character, so everything before the last @ is masked.
 */
function withoutAccess(address: string): string {
  return address
    .replace(/^([^:]*:\/\/)?.*@/s, `$1${MASK}@`)
    .replace(/[?#].*$/s, `?${MASK}`)
    .replace(/(?<=[^/]\/)[^/]+/g, (part) => (looksSecret(part) ? MASK : part));
}

function originOf(address: string): string {
  return withoutAccess(address).replace(/^([^:]*:\/\/[^/]+)\/.+$/s, `$1/${MASK}`);
}

/** The parts that `withoutAccess` masks. */
function passwordsIn(address: string): readonly string[] {
  const [, login = ''] = /^(?:[^:]*:\/\/)?(.*)@/s.exec(address) ?? [];
  const [user = '', ...password] = login.split(':');
  const query = [...address.matchAll(/[?&][^=&#]*=([^&#]+)/g)].map(([, value = '']) => value);
  const path = address.split('/').slice(3).filter(looksSecret);
  return [user, password.join(':'), ...query, ...path].flatMap((each) => (each === '' ? [] : [each, decoded(each)]));
}

/** Masks again line by line, because the parser may have missed secrets where the text is not YAML. */
function withoutSecretLines(text: string): string {
  let hiddenBelow = -1;
  const lines = text.split('\n').map((line) => {
    const indent = line.search(/\S/);
    if (hiddenBelow >= 0 && (indent === -1 || indent > hiddenBelow)) return '';
    hiddenBelow = -1;
    const start = secretValueIn(line);
    if (start === null) return line;
    const value = line.slice(start).trim();
    if (/^[|>&"'!]|^$/.test(value)) hiddenBelow = indent;
    return `${line.slice(0, start).trimEnd()} ${MASK}`;
  });
  return lines.join('\n');
}

/**
 * Returns the index in the line where a secret key's value begins; null if there is no such value or it is already
 * masked.
 */
function secretValueIn(line: string): number | null {
  if (/^\s*#/.test(line)) return null;
  for (const { 0: whole, 1: key = '', index } of line.matchAll(/([\w-]+)["']?\s*:(?=\s|$)\s*/g)) {
    const start = index + whole.length;
    const isHidden = line.startsWith(MASK, start) || /^!(?:env|file|credential)\b/.test(line.slice(start));
    if (isSecretKey(key) && !isHidden) return start;
  }
  return null;
}
