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

/**
 * Defaults for values that feeds require but the API has no field for (api-spec sections 2.2 and 2.3). All assumed: a
 * valid podcast or CTV feed needs them, and `PATCH /channels/:id` cannot set them.
 */
export const LANGUAGE = 'en';
export const COUNTRY = 'us';
/** One of Apple's podcast categories. */
export const PODCAST_CATEGORY = 'Society & Culture';
export const IS_EXPLICIT = false;
/**
 * The feed owner's email address, in a reserved domain (RFC 2606 section 3). The owner's name is the channel's name.
 */
export const OWNER_EMAIL = 'podcast@example.com';
/** Value of `podcast:locked`. `no` lets other hosts import the podcast. */
export const PODCAST_LOCKED = 'no';
/** One of Roku's genres; every movie needs one. */
export const GENRE = 'special';
/** US parental rating: not rated. */
export const RATING = { source: 'USA_PR', value: 'NR' } as const;
