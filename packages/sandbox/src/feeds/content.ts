import type { Links } from '../http/links.ts';
import type { FeedItem } from '../store/feeds.ts';
import { lineOf } from './text.ts';

/** The content of one feed document, independent of its format. */
export interface FeedContent {
  readonly channelId: string;
  /** The channel's name. */
  readonly title: string;
  readonly description: string | null;
  /** The address of this document. */
  readonly url: string;
  readonly pages: PageLinks;
  /** Null before the first publish. */
  readonly publishedAtMs: number | null;
  /** The time of the last publish, or of a later deletion of a video; before the first publish, that of the channel. */
  readonly changedAtMs: number;
  readonly podcastGuid: string;
  readonly items: readonly FeedItem[];
  readonly links: Links;
}

/** The addresses of the other pages of a paged feed (RFC 5005 section 3); none if the feed has a single page. */
export interface PageLinks {
  readonly first?: string;
  /** Newer items. */
  readonly previous?: string | undefined;
  /** Older items. */
  readonly next?: string | undefined;
  readonly last?: string;
}

/** On one line, and never empty: the id replaces a title of control characters alone. */
export function titleOf(item: FeedItem): string {
  return lineOf(item.title) || item.videoId;
}

/** Never empty: the title replaces a missing description, because every profile requires one. */
export function descriptionOf(item: FeedItem): string {
  return lineOf(item.description ?? '') === '' ? titleOf(item) : (item.description ?? '');
}

export function channelTitleOf(content: FeedContent): string {
  return lineOf(content.title) || content.channelId;
}

export function channelDescriptionOf(content: FeedContent): string {
  return lineOf(content.description ?? '') === '' ? channelTitleOf(content) : (content.description ?? '');
}

/** Each once, on one line, not longer than `maxCharacters`. @returns none for a video without tags */
export function tagsOf(item: FeedItem, maxCharacters: number): string[] {
  const tags = item.tags.map((tag) => Array.from(lineOf(tag)).slice(0, maxCharacters).join('').trim());
  return [...new Set(tags)].filter((tag) => tag !== '');
}

export function mediaUrlOf(item: FeedItem, links: Links): string {
  return links.media(item.videoId, item.media.fileExtension);
}
