import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { ILLEGAL_CHARACTERS, withoutIllegalCharacters } from './text.ts';

/** An element as read: names keep their prefixes, references are resolved, and texts are not trimmed. */
export interface ReadElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly ReadElement[];
  readonly text: string;
  /** The text as written in the document, with references unresolved. */
  readonly source: string;
}

/** Thrown when the document is not well-formed. The message states the problem, and its place if known. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

/**
 * Reads XML 1.0 with namespaces. Rejects a DOCTYPE: no feed needs one, and entity bombs depend on it.
 *
 * fast-xml-parser checks the structure and builds the tree. Here it expands no entities. It accepts much that XML
 * forbids inside texts and around the root, so this file checks those rules.
 * @throws XmlError
 */
export function readXml(document: string): ReadElement {
  requireNone(document, ILLEGAL_CHARACTERS, () => 'XML 1.0 forbids this character');
  const markup = withoutLiteralParts(document);
  requireLegalMarkup(markup);
  requireStructure(document);
  requireNothingAfterRoot(markup);
  const [node, ...others] = treeOf(document);
  if (!node || others.length > 0) throw new XmlError('the document must have exactly one root element');
  const root = elementOf(node);
  requireDeclaredPrefixes(root, new Set(['xml', 'xmlns']));
  return root;
}

/** Blanks out comments, CDATA and processing instructions, so that positions stay the same. */
function withoutLiteralParts(document: string): string {
  for (const { 0: part, index } of document.matchAll(LITERAL_PARTS)) {
    const problem = problemOfLiteral(part, index === 0);
    if (problem !== undefined) throw errorAt(document, index, problem);
  }
  return document.replaceAll(LITERAL_PARTS, (part) => part.replaceAll(/[^\n]/g, ' '));
}

/**
 * Comments, CDATA and processing instructions. An unclosed part matches up to the end of the document, because
 * searching for the missing ends of a million parts would take hours.
 */
const LITERAL_PARTS = /<!--[^]*?(?:-->|$)|<!\[CDATA\[[^]*?(?:\]\]>|$)|<\?[^]*?(?:\?>|$)/g;

function problemOfLiteral(part: string, isFirst: boolean): string | undefined {
  const [, start = '', content, end] = /^(<!--|<!\[CDATA\[|<\?)([^]*?)(-->|\]\]>|\?>)?$/.exec(part) ?? [];
  if (end === undefined) return `this ${start} is not closed`;
  if (start === '<!--' && content?.includes('--')) return 'a comment must not contain --';
  if (start === '<?' && /^xml(?:\s|$)/i.test(content ?? '') && !(isFirst && content?.startsWith('xml')))
    return 'an XML declaration is allowed only at the start of the document';
  return undefined;
}

function requireLegalMarkup(markup: string): void {
  requireNone(markup, /<!/g, () => 'a DOCTYPE is not allowed in a feed');
  requireNone(markup, /\]\]>/g, () => ']]> is not allowed in a text');
  requireNone(markup, REFERENCES, (reference) =>
    characterOf(reference) === undefined ? `${reference} is not a reference that XML knows` : undefined,
  );
}

function requireNone(source: string, pattern: RegExp, problemOf: (match: string) => string | undefined): void {
  for (const { 0: match, index } of source.matchAll(pattern)) {
    const problem = problemOf(match);
    if (problem !== undefined) throw errorAt(source, index, problem);
  }
}

function errorAt(source: string, index: number, problem: string): XmlError {
  const lines = source.slice(0, index).split('\n');
  return new XmlError(placed(problem, lines.length, (lines.at(-1)?.length ?? 0) + 1));
}

/** Prefixes a problem with its position. @param line from 1 @param column from 1 */
function placed(problem: string, line: number, column: number): string {
  return `line ${line}, column ${column}: ${problem}`;
}

function requireStructure(document: string): void {
  const verdict = XMLValidator.validate(document);
  if (verdict === true) return;
  const { msg, line, col } = verdict.err;
  if (col === undefined) throw new XmlError(msg);
  // If elements are unclosed, the validator's message lists all of them, even 100,000.
  throw new XmlError(msg.startsWith("Invalid '[") ? 'the document ends inside an element' : placed(msg, line, col));
}

/** Rejects content after the root element. The validator accepts references there, and any text after `<root/>`. */
function requireNothingAfterRoot(markup: string): void {
  const isEmpty = markup.indexOf('<') === markup.lastIndexOf('<');
  const unquoted = markup.replaceAll(/"[^"]*"|'[^']*'/g, (value) => ' '.repeat(value.length));
  const rootEnd = isEmpty ? unquoted.indexOf('>') : markup.lastIndexOf('>');
  const after = markup.slice(rootEnd + 1).search(/[^ \t\n\r]/);
  if (after !== -1) throw errorAt(markup, rootEnd + 1 + after, 'this text is outside the root element');
}

/** A node of the ordered tree: one property for the element, text or CDATA, and `:@` for the attributes. */
type TreeNode = Readonly<Record<string, unknown>>;

/**
 * Parses the document. @throws XmlError also for more than 100 levels, names such as `__proto__`, and tags above some
 * 100,000 characters
 */
function treeOf(document: string): readonly TreeNode[] {
  try {
    return parser.parse(document) as readonly TreeNode[];
  } catch (error) {
    // The parser passes a tag's characters as arguments, which overflows the stack for a long tag.
    if (error instanceof RangeError) throw new XmlError('a tag is too long', { cause: error });
    throw new XmlError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

const TEXT = '#text';
const CDATA = '#cdata';
const ATTRIBUTES = ':@';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  processEntities: false,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  textNodeName: TEXT,
  cdataPropName: CDATA,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: 100, // far more than a feed has, far less than the stack
});

function elementOf(node: TreeNode): ReadElement {
  const [name = '', content = []] = Object.entries(node).find(([key]) => key !== ATTRIBUTES) ?? [];
  const nodes = content as readonly TreeNode[];
  const children = nodes.filter((child) => !(TEXT in child) && !(CDATA in child)).map(elementOf);
  const texts = nodes.filter((child) => TEXT in child || CDATA in child);
  return {
    name,
    attributes: attributesOf(node[ATTRIBUTES] ?? {}),
    children,
    text: texts.map((part) => (CDATA in part ? sourceOf(part) : resolved(sourceOf(part)))).join(''),
    source: texts.map(sourceOf).join(''),
  };
}

function sourceOf(node: TreeNode): string {
  if (CDATA in node) return (node[CDATA] as readonly TreeNode[]).map(sourceOf).join('');
  return String(node[TEXT]);
}

/** Reads the attributes. Tabs and line breaks in their values become spaces (XML 1.0 section 3.3.3). */
function attributesOf(attributes: object): Map<string, string> {
  const pairs = Object.entries(attributes).map(([name, value]) => [name, String(value)] as const);
  const wrong = pairs.find(([, value]) => value.includes('<'));
  if (wrong) throw new XmlError(`the attribute ${wrong[0]} must not contain <`);
  return new Map(pairs.map(([name, value]) => [name, resolved(value.replaceAll(/[\t\n\r]/g, ' '))]));
}

const REFERENCES = /&[^;&<\s]*;?/g;

function resolved(source: string): string {
  return source.replaceAll(REFERENCES, (reference) => characterOf(reference) ?? reference);
}

/** Resolves a reference. @returns undefined if `reference` is not a reference to a legal character */
function characterOf(reference: string): string | undefined {
  const [, hex, decimal, name] = /^&(?:#x([\da-fA-F]{1,6})|#(\d{1,7})|(\w+));$/.exec(reference) ?? [];
  if (name !== undefined) return ENTITIES.get(name);
  const code = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16);
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : '';
  return withoutIllegalCharacters(character) === '' ? undefined : character;
}

const ENTITIES = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

function requireDeclaredPrefixes({ name, attributes, children }: ReadElement, outer: ReadonlySet<string>): void {
  const declared = [...attributes.keys()].filter((key) => key.startsWith('xmlns:')).map((key) => key.slice(6));
  const emptied = declared.find((prefix) => attributes.get(`xmlns:${prefix}`) === '');
  if (emptied !== undefined) throw new XmlError(`the prefix ${emptied} must not be declared as empty`);
  const known = declared.length === 0 ? outer : new Set([...outer, ...declared]);
  for (const whole of [name, ...attributes.keys()]) {
    const [prefix = '', ...local] = whole.split(':');
    if (local.length > 0 && !known.has(prefix)) throw new XmlError(`the prefix ${prefix} is not declared`);
    if (local.length > 1 || prefix === '' || local[0] === '') throw new XmlError(`${whole} is not a name`);
  }
  for (const child of children) requireDeclaredPrefixes(child, known);
}
