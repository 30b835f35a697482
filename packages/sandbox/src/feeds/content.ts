import type { Links } from '../http/links.ts';
import type { FeedItem } from '../store/feeds.ts';
import { lineOf } from './text.ts';

/** The content of one feed document, independent of its format. */
export interface FeedContent {
  readonly channelId: string;
  /** The channel's name. */
  readonly title: string;
  readonly description: string | null;
  /** This document's address. */
  readonly url: string;
  readonly pages: PageLinks;
  /** Null before the first publish. */
  readonly publishedAtMs: number | null;
  /** Time of the last publish, or of a later video deletion. Before the first publish: when the channel was created. */
  readonly changedAtMs: number;
  readonly podcastGuid: string;
  readonly items: readonly FeedItem[];
  readonly links: Links;
}

/** Addresses of the other pages of a paged feed (RFC 5005 section 3). Empty if the feed has a single page. */
export interface PageLinks {
  readonly first?: string;
  /** Newer items. */
  readonly previous?: string | undefined;
  /** Older items. */
  readonly next?: string | undefined;
  readonly last?: string;
}

/** Returns the title on one line, or the video's id if the title is only control characters. Never empty. */
export function titleOf(item: FeedItem): string {
  return lineOf(item.title) || item.videoId;
}

/** Returns the description, or the title if it is missing, because every profile requires a description. */
export function descriptionOf(item: FeedItem): string {
  return lineOf(item.description ?? '') === '' ? titleOf(item) : (item.description ?? '');
}

export function channelTitleOf(content: FeedContent): string {
  return lineOf(content.title) || content.channelId;
}

export function channelDescriptionOf(content: FeedContent): string {
  return lineOf(content.description ?? '') === '' ? channelTitleOf(content) : (content.description ?? '');
}

/** Returns each distinct tag on one line, cut to `maxCharacters`. @returns an empty list for a video without tags */
export function tagsOf(item: FeedItem, maxCharacters: number): string[] {
  const tags = item.tags.map((tag) => Array.from(lineOf(tag)).slice(0, maxCharacters).join('').trim());
  return [...new Set(tags)].filter((tag) => tag !== '');
}

export function mediaUrlOf(item: FeedItem, links: Links): string {
  return links.media(item.videoId, item.media.fileExtension);
}
