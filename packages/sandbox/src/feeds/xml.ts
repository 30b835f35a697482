import { presentable } from './text.ts';

/** An element to write. Its content is either text or elements, never both: a feed has no mixed content. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: XmlAttributes;
  readonly content: string | readonly XmlElement[];
}

/** Attributes in the order in which they are written; undefined ones are omitted. */
type XmlAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export function textElement(name: string, text: string | number | boolean, attributes: XmlAttributes = {}): XmlElement {
  return { name, attributes, content: String(text) };
}

/** Builds an element with any number of children; undefined ones are omitted. */
export function element(
  name: string,
  attributes: XmlAttributes,
  children: readonly (XmlElement | undefined)[] = [],
): XmlElement {
  return { name, attributes, content: children.filter((child) => child !== undefined) };
}

/**
 * Writes an XML 1.0 document in UTF-8. Elements start on their own lines, but texts get no white space around them:
 * readers that do not trim would show it (a generator that indented its CDATA produced titles with a leading line
 * break).
 */
export function xmlDocument(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${written(root, '')}\n`;
}

function written({ name, attributes, content }: XmlElement, indent: string): string {
  const start = `${indent}<${name}${writtenAttributes(attributes)}`;
  if (content.length === 0) return `${start}/>`;
  if (typeof content === 'string') return `${start}>${escapedText(content)}</${name}>`;
  const children = content.map((child) => written(child, `${indent}  `));
  return `${start}>\n${children.join('\n')}\n${indent}</${name}>`;
}

function writtenAttributes(attributes: XmlAttributes): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escapedAttribute(String(value))}"`)
    .join('');
}

/**
 * Escapes a text. `>` is included because `]]>` is not allowed in a text (XML 1.0 section 2.4). `&` and `<` become
 * numeric references: that is how the RSS Advisory Board's RSS Profile distinguishes plain text containing `&lt;` from
 * escaped HTML, and the W3C validator asks for it. CR is escaped because a reader would turn it into LF (XML 1.0
 * section 2.11). LF is escaped because the validator looks for numeric references in a text's first line.
 */
function escapedText(text: string): string {
  return presentable(text)
    .trim()
    .replaceAll(/[&<>\n\r]/g, (character) => TEXT_REFERENCES[character] ?? character);
}

const TEXT_REFERENCES: Readonly<Record<string, string>> = {
  '&': '&#x26;',
  '<': '&#x3C;',
  '>': '&gt;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

/**
 * Escapes an attribute value, including tabs and line breaks: a reader would turn them into spaces (XML 1.0 section
 * 3.3.3).
 */
function escapedAttribute(text: string): string {
  return presentable(text)
    .trim()
    .replaceAll(/[&<>"\t\n\r]/g, (character) => ATTRIBUTE_REFERENCES[character] ?? `&#${character.codePointAt(0)};`);
}

const ATTRIBUTE_REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
