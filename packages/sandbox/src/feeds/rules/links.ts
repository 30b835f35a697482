import type { ReadElement } from '../xml-reader.ts';
import { finding, isWebAddress, type Finding } from './finding.ts';

/**
 * Checks a channel's `atom:link`s: the RSS Advisory Board's best practices for `self`, RFC 5005 section 3 for pages.
 * @param url address from which the document was read
 */
export function* linkFindings(channel: ReadElement, url?: string): Generator<Finding> {
  const links = channel.children.filter(({ name }) => name === 'atom:link').map(({ attributes }) => attributes);
  const selves = links.filter((link) => link.get('rel') === 'self');
  if (selves.length !== 1) yield finding('self-link', 'there must be one atom:link rel="self"');
  if (!links.every((link) => isWebAddress(link.get('href'))))
    yield finding('self-link', 'the href of an atom:link must be a web address');
  for (const self of selves) yield* selfFindings(self, url);
  yield* pageFindings(new Map(PAGES.map((rel) => [rel, hrefsOf(links, rel)])), selves[0]?.get('href'));
}

function* selfFindings(self: ReadElement['attributes'], url?: string): Generator<Finding> {
  const type = self.get('type') ?? '';
  if (type !== '' && !FEED_TYPE.test(type))
    yield finding('self-link', `atom:link rel="self" must have the type of a feed, not ${type}`);
  if (url !== undefined && self.get('href') !== url)
    yield finding('self-link', `atom:link rel="self" must have the address of this document, ${url}`);
}

const FEED_TYPE = /^application\/(?:atom|rss|rdf)\+xml(?:;|$)/;
const PAGES = ['first', 'previous', 'next', 'last'] as const;

function hrefsOf(links: readonly ReadElement['attributes'][], rel: string): (string | undefined)[] {
  return links.filter((link) => link.get('rel') === rel).map((link) => link.get('href'));
}

/**
 * Checks the page links. A reader that follows `next` must reach an end, and one that starts in the middle must be able
 * to find the beginning.
 */
function* pageFindings(pages: ReadonlyMap<string, readonly (string | undefined)[]>, self?: string): Generator<Finding> {
  for (const [rel, hrefs] of pages)
    if (hrefs.length > 1) yield finding('paging', `there must be one atom:link rel="${rel}" at most`);
  const [first, previous, next, last] = PAGES.map((rel) => pages.get(rel)?.[0]);
  const isFirst = first === self;
  const isLast = last === self;
  if ([previous, next].includes(self ?? '')) yield finding('paging', 'the previous or next page must be another one');
  if (previous !== undefined && (first === undefined || isFirst))
    yield finding('paging', 'a page with a previous one must lead to another first one');
  if (next !== undefined && (last === undefined || isLast))
    yield finding('paging', 'a page with a next one must lead to another last one');
  if (first !== undefined && !isFirst && previous === undefined)
    yield finding('paging', 'a page that is not the first must lead to its previous one');
}
