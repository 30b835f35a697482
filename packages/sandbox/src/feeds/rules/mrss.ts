import { MEDIA_RSS, MRSS_PAGE_ITEMS } from '../mrss.ts';
import { finding, isCount, isMediaType, isWebAddress, type Finding } from './finding.ts';
import type { ReadElement } from '../xml-reader.ts';
import { childOf, itemsOf, namespaceFindings, requireText, textOf } from './rss.ts';

/** Checks the rules of Media RSS 1.5.1 and Roku's profile of it, and Google Ad Manager's page limit. */
export function* mrssFindings(rss: ReadElement): Generator<Finding> {
  yield* namespaceFindings(rss, 'media', MEDIA_RSS);
  const items = itemsOf(rss);
  if (items.length > MRSS_PAGE_ITEMS) yield finding('page-size', `a page has at most ${MRSS_PAGE_ITEMS} items`);
  for (const [item, label] of items) yield* itemFindings(item, label);
}

function* itemFindings(item: ReadElement, label: string): Generator<Finding> {
  const group = childOf(item, 'media:group');
  const contents = (group ?? item).children.filter(({ name }) => name === 'media:content');
  if (group && contents.length < 2) yield finding('media-group', 'a media:group needs two contents or more', label);
  if (contents.length === 0) yield finding('media-content', 'media:content is missing', label);
  for (const content of contents) {
    yield* attributeFindings(content, label);
    yield* descriptiveFindings(content, label);
  }
}

const ATTRIBUTES: Readonly<Record<string, { isValid: (value: string) => boolean; rule: string; must: string }>> = {
  url: { isValid: isWebAddress, rule: 'media-url', must: 'be a web address' },
  fileSize: { isValid: isCount, rule: 'media-size', must: 'be its bytes, above 0' },
  duration: { isValid: isCount, rule: 'media-duration', must: 'be whole seconds, above 0' },
  bitrate: { isValid: isAboveZero, rule: 'media-bitrate', must: 'be kbit/s, above 0' },
  framerate: { isValid: isAboveZero, rule: 'media-framerate', must: 'be a number above 0' },
  width: { isValid: isCount, rule: 'media-dimensions', must: 'be whole pixels' },
  height: { isValid: isCount, rule: 'media-dimensions', must: 'be whole pixels' },
  isDefault: { isValid: oneOf('true', 'false'), rule: 'media-default', must: 'be true or false' },
  expression: {
    isValid: oneOf('sample', 'full', 'nonstop'),
    rule: 'media-expression',
    must: 'be sample, full or nonstop',
  },
  medium: { isValid: oneOf('video', 'audio'), rule: 'media-medium', must: 'be video or audio' },
  type: { isValid: isMediaType, rule: 'media-type', must: 'be a media type' },
};

function* attributeFindings({ attributes }: ReadElement, label: string): Generator<Finding> {
  if (!attributes.has('url')) yield finding('media-url', 'media:content needs a url', label);
  for (const [name, value] of attributes) {
    const rule = ATTRIBUTES[name];
    if (rule && !rule.isValid(value))
      yield finding(rule.rule, `${name} of media:content must ${rule.must}, not ${value}`, label);
  }
}

function* descriptiveFindings(content: ReadElement, label: string): Generator<Finding> {
  yield* requireText(content, 'media:title', label);
  yield* requireText(content, 'media:description', label);
  if (Array.from(textOf(content, 'media:description')).length > 200)
    yield finding('media-description', 'media:description must have at most 200 characters', label);
  if (textOf(content, 'media:category') === '' && textOf(content, 'media:keywords') === '')
    yield finding('media-category', 'there must be a media:category or media:keywords', label);
  if (!isWebAddress(childOf(content, 'media:thumbnail')?.attributes.get('url')))
    yield finding('media-thumbnail', 'there must be a media:thumbnail with a url', label);
  const algorithm = childOf(content, 'media:hash')?.attributes.get('algo') ?? 'md5';
  if (!['md5', 'sha-1'].includes(algorithm)) yield finding('media-hash', 'a media:hash is md5 or sha-1', label);
}

function isAboveZero(value: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(value) && Number(value) > 0;
}

function oneOf(...values: readonly string[]): (value: string) => boolean {
  return (value) => values.includes(value);
}
