import type { FeedType } from '../store/feeds.ts';
import { ctvFindings } from './rules/ctv.ts';
import { finding, type Finding } from './rules/finding.ts';
import { mrssFindings } from './rules/mrss.ts';
import { podcastFindings } from './rules/podcast.ts';
import { rokuSearchFindings } from './rules/roku-search.ts';
import { rssFindings } from './rules/rss.ts';
import { presentable } from './text.ts';
import { readXml, XmlError, type ReadElement } from './xml-reader.ts';

/**
 * Checks a feed against the rules of its type: the requirements of its specification, and what readers reject although
 * general validators accept it (an enclosure of length 0, a fractional duration). Reads only the document and fetches
 * nothing.
 * @param url the document's address; without it, `self` cannot be checked
 * @returns an empty list for a valid feed
 */
export function verdictOf(document: string, type: FeedType | 'roku-search', url?: string): Finding[] {
  switch (type) {
    case 'mrss':
      return rssVerdict(document, mrssFindings, url);
    case 'podcast':
      return rssVerdict(document, podcastFindings, url);
    case 'ctv':
      return jsonVerdict(document, ctvFindings);
    case 'roku-search':
      return jsonVerdict(document, rokuSearchFindings);
    default:
      return type satisfies never;
  }
}

function rssVerdict(
  document: string,
  findings: (rss: ReadElement) => Iterable<Finding>,
  url: string | undefined,
): Finding[] {
  try {
    const rss = readXml(document);
    return [...rssFindings(rss, url), ...findings(rss)];
  } catch (error) {
    if (error instanceof XmlError) return [{ rule: 'well-formed', message: error.message }];
    throw error;
  }
}

function jsonVerdict(document: string, findings: (feed: unknown) => Iterable<Finding>): Finding[] {
  try {
    const feed = JSON.parse(document) as unknown;
    return [...findings(feed), ...characterFindings(feed)];
  } catch (error) {
    if (error instanceof SyntaxError) return [{ rule: 'well-formed', message: 'the document is not JSON' }];
    throw error;
  }
}

/** Applies the character rules for XML to JSON, which permits any escaped character. */
function* characterFindings(feed: unknown): Generator<Finding> {
  if (textsIn(feed).some((text) => presentable(text) !== text))
    yield finding('characters', 'the document has characters that cannot be displayed, such as U+0080 to U+009F');
}

/**
 * Returns all strings in the feed, property names included. Not recursive: a document may be nested deeper than the
 * stack allows.
 */
function textsIn(feed: unknown): string[] {
  const values = [feed];
  for (const value of values)
    if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) values.push(name, inner);
  return values.filter((value) => typeof value === 'string');
}
