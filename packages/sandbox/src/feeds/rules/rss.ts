import { ATOM } from '../rss.ts';
import { isRssDate } from './dates.ts';
import { finding, isCount, isMediaType, isWebAddress, type Finding } from './finding.ts';
import type { ReadElement } from '../xml-reader.ts';
import { linkFindings } from './links.ts';
import { textFindings } from './texts.ts';

/**
 * Checks the rules that MRSS and podcast feeds share: RSS 2.0, its best practices, and what enclosure readers require.
 * @param url address from which the document was read
 */
export function* rssFindings(rss: ReadElement, url?: string): Generator<Finding> {
  if (rss.name !== 'rss' || rss.attributes.get('version') !== '2.0')
    yield { rule: 'rss-version', message: 'the document must be <rss version="2.0">' };
  yield* namespaceFindings(rss, 'atom', ATOM);
  if (rss.attributes.has('xmlns')) yield finding('namespace', 'the elements of RSS 2.0 are in no namespace');
  yield* repeatedElements(rss);
  const channel = channelOf(rss);
  if (channel) yield* channelFindings(channel, url);
  else yield { rule: 'channel', message: 'channel is missing' };
  const items = itemsOf(rss);
  for (const [item, label] of items) yield* itemFindings(item, label);
  yield* repeated(items, 'guid-unique', (item) => textOf(item, 'guid'));
  yield* repeated(items, 'enclosure-unique', (item) => childOf(item, 'enclosure')?.attributes.get('url'));
}

/**
 * Checks that a prefix is bound to exactly this namespace: any other name makes every element with the prefix unknown.
 */
export function* namespaceFindings(rss: ReadElement, prefix: string, name: string): Generator<Finding> {
  if (rss.attributes.get(`xmlns:${prefix}`) !== name)
    yield { rule: 'namespace', message: `xmlns:${prefix} must be exactly ${name}` };
}

export function channelOf(rss: ReadElement): ReadElement | undefined {
  return childOf(rss, 'channel');
}

/** Returns each item with its label for findings. */
export function itemsOf(rss: ReadElement): (readonly [ReadElement, string])[] {
  const items = channelOf(rss)?.children.filter(({ name }) => name === 'item') ?? [];
  return items.map((item, index) => [item, textOf(item, 'guid') || `#${index + 1}`] as const);
}

export function childOf(parent: ReadElement, name: string): ReadElement | undefined {
  return parent.children.find((child) => child.name === name);
}

/** Returns the text of a child element; '' if the element is missing or empty. */
export function textOf(parent: ReadElement, name: string): string {
  return childOf(parent, name)?.text ?? '';
}

export function* requireText(parent: ReadElement, name: string, item?: string): Generator<Finding> {
  if (textOf(parent, name).trim() !== '') return;
  yield finding('required', `${name} is missing or empty`, item);
}

function* channelFindings(channel: ReadElement, url?: string): Generator<Finding> {
  for (const name of ['title', 'link', 'description']) yield* requireText(channel, name);
  if (!isWebAddress(textOf(channel, 'link'))) yield finding('link', 'the link of the channel must be a web address');
  const language = textOf(channel, 'language');
  if (language !== '' && !/^[a-z]{2,3}(?:-[a-z\d]+)*$/i.test(language))
    yield finding('language', `language must be a code of ISO 639, not ${language}`);
  yield* repeatedElements(channel);
  yield* linkFindings(channel, url);
  yield* dateFindings(channel);
  yield* spaceFindings(channel);
  yield* textFindings(channel);
}

function* dateFindings(parent: ReadElement, item?: string): Generator<Finding> {
  for (const { name, text } of parent.children)
    if (['pubDate', 'lastBuildDate'].includes(name) && !isRssDate(text))
      yield finding(
        'date',
        `${name} must be a date of RFC 822 that exists, with GMT or a numeric zone, not ${text}`,
        item,
      );
}

/** Reports leading or trailing white space, which PSP-1 forbids. Readers that do not trim show it. */
function* spaceFindings(parent: ReadElement, item?: string): Generator<Finding> {
  for (const child of parent.children) {
    const isText = child.children.length === 0;
    if (isText && child.text !== child.text.trim())
      yield finding('white-space', `${child.name} has white space around its text`, item);
    if (child.name.startsWith('media:')) yield* spaceFindings(child, item);
  }
}

function* itemFindings(item: ReadElement, label: string): Generator<Finding> {
  for (const name of ['title', 'guid', 'description', 'pubDate']) yield* requireText(item, name, label);
  if (childOf(item, 'link') && !isWebAddress(textOf(item, 'link')))
    yield finding('link', 'the link of an item must be a web address', label);
  yield* repeatedElements(item, label);
  yield* dateFindings(item, label);
  yield* spaceFindings(item, label);
  yield* textFindings(item, label);
  const guid = childOf(item, 'guid');
  if (guid && guid.attributes.get('isPermaLink') !== 'false' && !isWebAddress(guid.text))
    yield finding('guid', 'a guid that is not a web address needs isPermaLink="false"', label);
  yield* enclosureFindings(item, label);
}

function* enclosureFindings(item: ReadElement, label: string): Generator<Finding> {
  const enclosures = item.children.filter(({ name }) => name === 'enclosure');
  if (enclosures.length !== 1) yield finding('enclosure', 'an item must have one enclosure', label);
  for (const { attributes } of enclosures) yield* fileFindings(attributes, label);
}

function* fileFindings(attributes: ReadElement['attributes'], label: string): Generator<Finding> {
  if (!isWebAddress(attributes.get('url')))
    yield finding('enclosure', 'the url of the enclosure must be a web address', label);
  if (!isCount(attributes.get('length')))
    yield finding('enclosure-length', 'the length of the enclosure must be its bytes, above 0', label);
  if (!isMediaType(attributes.get('type')))
    yield finding('enclosure-type', 'the type of the enclosure must be a media type', label);
}

/** Reports repeated elements. Some readers use the first one, others the last. */
export function* repeatedElements({ name, children }: ReadElement, item?: string): Generator<Finding> {
  const names = children.map((child) => child.name).filter((child) => ONCE.has(child));
  for (const twice of new Set(names.filter((child, index) => names.indexOf(child) < index)))
    yield finding('repeated', `${name} has more than one ${twice}`, item);
}

/** Elements of RSS 2.0, Apple and PSP-1 that may occur only once. */
const ONCE = new Set(
  `channel title link description language pubDate lastBuildDate generator guid author comments source itunes:author itunes:block
  itunes:complete itunes:duration itunes:email itunes:episode itunes:episodeType itunes:explicit itunes:image itunes:name itunes:season
  itunes:type podcast:guid podcast:locked podcast:medium`.split(/\s+/),
);

function* repeated(
  items: readonly (readonly [ReadElement, string])[],
  rule: string,
  keyOf: (item: ReadElement) => string | undefined,
): Generator<Finding> {
  const seen = new Set<string>();
  for (const [item, label] of items) {
    const key = keyOf(item);
    if (key !== undefined && seen.has(key)) yield finding(rule, `${key} appears twice`, label);
    seen.add(key ?? '');
  }
}
