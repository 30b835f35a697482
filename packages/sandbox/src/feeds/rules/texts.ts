import { presentable } from '../text.ts';
import type { ReadElement } from '../xml-reader.ts';
import { finding, type Finding } from './finding.ts';
import { HTML_ELEMENTS, HTML_ENTITIES } from './html-names.ts';

/**
 * Reports what the W3C feed validator warns about in a channel's or an item's texts. Skips the items inside a channel.
 */
export function* textFindings(parent: ReadElement, label?: string): Generator<Finding> {
  for (const element of parent.children) {
    if (element.name === 'item') continue;
    yield* characterFindings(element, label);
    if (isPlain(element, parent)) yield* markupFindings(element, label);
    yield* textFindings(element, label);
  }
}

/** Reports the validator's `BadCharacters`, and the other characters that {@link presentable} removes. */
function* characterFindings({ name, text, attributes }: ReadElement, label?: string): Generator<Finding> {
  for (const value of [text, ...attributes.values()])
    if (presentable(value) !== value)
      yield finding('characters', `${name} has characters that cannot be displayed, such as U+0080 to U+009F`, label);
}

/**
 * Returns whether an element holds plain text. An item's description is HTML; other texts are HTML only if declared so.
 */
function isPlain({ name, attributes }: ReadElement, parent: ReadElement): boolean {
  if (name === 'description') return parent.name === 'channel';
  return PLAIN.has(name) && attributes.get('type') !== 'html';
}

const PLAIN = new Set([
  'title',
  'category',
  'itunes:author',
  'itunes:name',
  'itunes:email',
  'itunes:subtitle',
  'itunes:summary',
  'itunes:keywords',
  'media:title',
  'media:description',
  'media:category',
]);

/**
 * Reports the validator's `ContainsHTML`: an end tag always; an entity or a start tag unless the document writes a
 * character as a hexadecimal reference. Such references distinguish plain text containing `&lt;b>` from escaped HTML
 * (the RSS Advisory Board's RSS Profile).
 */
function* markupFindings({ name, text, source }: ReadElement, label?: string): Generator<Finding> {
  const tag = [...text.matchAll(/<\/(\w+)>/g)].find(([, element = '']) => HTML_ELEMENTS.has(element.toLowerCase()));
  if (tag) yield finding('html-in-text', `${name} must be plain text, but has the tag ${tag[0]}`, label);
  else if (hasMarkup(text) && !source.includes('&#x'))
    yield finding('html-in-text', `${name} must be plain text, with & and < written as &#x26; and &#x3C;`, label);
}

function hasMarkup(text: string): boolean {
  if (/&#[x\d]|<[/a-z]/i.test(text)) return true;
  return [...text.matchAll(/&(\w+)/g)].some(([, name = '']) => HTML_ENTITIES.has(name) || !/^[a-z]+$/i.test(name));
}
