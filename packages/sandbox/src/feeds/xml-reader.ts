import { withoutIllegalCharacters } from './text.ts';

/** An element as it was read: names with their prefixes, texts with their references resolved and not trimmed. */
export interface ReadElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: ReadElement[];
  text: string;
}

/** The document is not well-formed. The message says where, and what is wrong. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

/**
 * Reads what a feed may be made of: XML 1.0 with namespaces, without a DOCTYPE, which no feed needs and entity bombs are made of.
 * @throws XmlError
 */
export function readXml(document: string): ReadElement {
  if (withoutIllegalCharacters(document).length !== document.length)
    throw new XmlError('the document has a character that XML 1.0 forbids');
  const top: ReadElement = { name: '', attributes: new Map(), children: [], text: '' };
  const open = [top];
  for (const token of tokensOf(document)) take(token, open);
  const [root, ...others] = top.children;
  if (open.length > 1) throw new XmlError(`<${open.at(-1)?.name}> is never closed`);
  if (!root || others.length > 0 || top.text.trim() !== '') throw new XmlError('the document must be one element');
  requireDeclaredPrefixes(root, new Set(['xml', 'xmlns']));
  return root;
}

const NAME = String.raw`[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?`;
const ATTRIBUTE = String.raw`\s+${NAME}\s*=\s*(?:"[^"<]*"|'[^'<]*')`;
const TOKEN = new RegExp(
  [
    String.raw`<!--(?:(?!--)[^])*-->`,
    String.raw`<\?[^]*?\?>`,
    String.raw`<!\[CDATA\[(?<cdata>[^]*?)\]\]>`,
    String.raw`</(?<end>${NAME})\s*>`,
    String.raw`<(?<start>${NAME})(?<attributes>(?:${ATTRIBUTE})*)\s*(?<empty>/?)>`,
    `(?<text>[^<]+)`,
  ].join('|'),
  'y',
);

/** Far more than any feed has, far less than the stack. */
const MAX_DEPTH = 100;

type Token = Readonly<Record<string, string | undefined>>;

function* tokensOf(document: string): Generator<Token> {
  const pattern = new RegExp(TOKEN);
  while (pattern.lastIndex < document.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(document);
    if (!match) throw new XmlError(`line ${document.slice(0, at).split('\n').length}: this is not well-formed`);
    yield match.groups ?? {};
  }
}

function take({ cdata, end, start, attributes, empty, text }: Token, open: ReadElement[]): void {
  const parent = open.at(-1);
  if (!parent) throw new XmlError('there is text after the end');
  if (text !== undefined) parent.text += resolved(text);
  if (cdata !== undefined) parent.text += cdata;
  if (start !== undefined) {
    const element = { name: start, attributes: readAttributes(attributes ?? ''), children: [], text: '' };
    parent.children.push(element);
    if (empty === '') open.push(element);
    if (open.length > MAX_DEPTH) throw new XmlError('the elements are nested too deep');
  }
  if (end === undefined) return;
  if (parent.name !== end) throw new XmlError(`</${end}> closes <${parent.name}>`);
  open.pop();
}

function readAttributes(source: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', quoted = ''] of source.matchAll(/([\w.:-]+)\s*=\s*("[^"]*"|'[^']*')/g)) {
    if (attributes.has(name)) throw new XmlError(`the attribute ${name} is given twice`);
    attributes.set(name, resolved(quoted.slice(1, -1).replaceAll(/[\t\n\r]/g, ' ')));
  }
  return attributes;
}

function resolved(source: string): string {
  if (source.includes(']]>')) throw new XmlError(']]> is not allowed in a text');
  return source.replaceAll(/&(?:#x([\da-fA-F]{1,6});|#(\d{1,7});|(\w+);)?/g, (whole, hex, decimal, name) => {
    const character = name === undefined ? numbered(hex, decimal) : ENTITIES[String(name)];
    if (character === undefined) throw new XmlError(`${whole} is no reference that XML knows`);
    return character;
  });
}

function numbered(hex: string | undefined, decimal: string | undefined): string | undefined {
  if (hex === undefined && decimal === undefined) return undefined;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const character = code > 0x10ffff ? '' : String.fromCodePoint(code);
  return withoutIllegalCharacters(character) === '' ? undefined : character;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function requireDeclaredPrefixes({ name, attributes, children }: ReadElement, outer: ReadonlySet<string>): void {
  const declared = [...attributes.keys()].filter((key) => key.startsWith('xmlns:')).map((key) => key.slice(6));
  const known = new Set([...outer, ...declared]);
  for (const [prefix, local] of [name, ...attributes.keys()].map((whole) => whole.split(':')))
    if (local !== undefined && !known.has(prefix ?? '')) throw new XmlError(`the prefix ${prefix} is not declared`);
  for (const child of children) requireDeclaredPrefixes(child, known);
}
