import { presentable } from '../text.ts';
import type { ReadElement } from '../xml-reader.ts';
import { finding, type Finding } from './finding.ts';
import { HTML_ELEMENTS, HTML_ENTITIES } from './html-names.ts';

/**
 * The warnings of the W3C's feed validator about the texts of a channel or item; items inside a channel are left out.
 */
export function* textFindings(parent: ReadElement, label?: string): Generator<Finding> {
  for (const element of parent.children) {
    if (element.name === 'item') continue;
    yield* characterFindings(element, label);
    if (isPlain(element, parent)) yield* markupFindings(element, label);
    yield* textFindings(element, label);
  }
}

/** `BadCharacters` there, and the other characters that {@link presentable} takes out. */
function* characterFindings({ name, text, attributes }: ReadElement, label?: string): Generator<Finding> {
  for (const value of [text, ...attributes.values()])
    if (presentable(value) !== value)
      yield finding('characters', `${name} has characters that cannot be displayed, such as U+0080 to U+009F`, label);
}

/** The description of an item is HTML; other texts are not, unless they say so. */
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
 * `ContainsHTML` there: an end tag always, an entity or the start of a tag unless the document writes a character by
 * its hexadecimal number. That is how a plain text with `&lt;b>` in it differs from HTML that was escaped (RSS Profile
 * of the RSS Advisory Board).
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
