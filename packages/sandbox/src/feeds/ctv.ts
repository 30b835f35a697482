import type { FeedItem } from '../store/feeds.ts';
import {
  channelTitleOf,
  descriptionOf,
  mediaUrlOf,
  tagsOf,
  titleOf,
  type FeedContent,
  GENRE,
  LANGUAGE,
  COUNTRY,
  RATING,
} from './content.ts';
import { clipped, lineOf, dayOf, wholeSeconds, zonedTime } from './text.ts';

/** Longest short-form video in Roku's format; a longer video is a movie. */
const SHORT_FORM_MAX_S = 15 * 60;

/**
 * A CTV feed in Roku's Direct Publisher format. Roku has retired the format, but other platforms still import it
 * because it carries the stream addresses. Both lists are always present, so an empty feed is valid too. The format has
 * no pages, so the document holds the newest 1,000 videos.
 */
export function ctvDocument(content: FeedContent): string {
  const isShort = (item: FeedItem) => secondsOf(item) <= SHORT_FORM_MAX_S;
  const shorts = content.items.filter(isShort);
  const movies = content.items.filter((item) => !isShort(item));
  return JSON.stringify(
    {
      providerName: clipped(channelTitleOf(content), 255),
      lastUpdated: zonedTime(content.changedAtMs),
      language: LANGUAGE,
      shortFormVideos: shorts.map((item) => ({ ...videoOf(item, content), content: contentOf(item, content) })),
      movies: movies.map((item) => ({
        ...videoOf(item, content),
        genres: [GENRE],
        // Roku requires `captions` for movies; the service has none.
        content: { ...contentOf(item, content), captions: [] },
      })),
    },
    null,
    2,
  );
}

function secondsOf(item: FeedItem): number {
  return wholeSeconds(item.media.durationS) ?? 1;
}

/**
 * Returns `shortDescription` (at most 200 characters), and `longDescription` (at most 500) only if it adds text: Roku
 * requires the two to differ.
 */
function descriptionsOf(item: FeedItem): { short: string; long: string | undefined } {
  const whole = lineOf(descriptionOf(item));
  const short = clipped(whole, 200);
  return { short, long: short === whole ? undefined : clipped(whole, 500) };
}

function videoOf(item: FeedItem, { links }: FeedContent) {
  const { short, long } = descriptionsOf(item);
  const tags = tagsOf(item, 20);
  return {
    id: item.videoId,
    title: clipped(titleOf(item), 200),
    shortDescription: short,
    ...(long !== undefined && { longDescription: long }),
    thumbnail: links.thumbnail(item.videoId),
    releaseDate: dayOf(item.createdAtMs),
    ...(tags.length > 0 && { tags }),
  };
}

function contentOf(item: FeedItem, { links }: FeedContent) {
  const { fileExtension, bitRate, sizeBytes } = item.media;
  const bitsPerSecond = bitRate ?? (sizeBytes * 8) / secondsOf(item);
  const video = {
    url: mediaUrlOf(item, links),
    quality: qualityOf(item),
    videoType: fileExtension.toUpperCase(),
    bitrate: Math.max(1, Math.round(bitsPerSecond / 1000)),
  };
  return {
    dateAdded: zonedTime(item.createdAtMs),
    duration: secondsOf(item),
    language: LANGUAGE,
    videos: [video],
  };
}

/**
 * Derives the quality from the shorter side, so that portrait video counts like landscape. HD is the lowest quality in
 * the format.
 */
function qualityOf({ media }: FeedItem): 'HD' | 'FHD' | 'UHD' {
  const lines = Math.min(media.width ?? 0, media.height ?? 0);
  if (lines >= 2160) return 'UHD';
  return lines >= 1080 ? 'FHD' : 'HD';
}

/**
 * The same videos as a Roku Search feed 2.0. Where Roku's page and its schema disagree (`shortform` and `shortForm`),
 * this follows the schema. `nextPageUrl` points to the next page. Roku requires paging above 20 MB, and a page is far
 * smaller.
 */
export function rokuSearchDocument(content: FeedContent): string {
  return JSON.stringify(
    {
      version: '1',
      defaultLanguage: LANGUAGE,
      defaultAvailabilityCountries: [COUNTRY],
      ...(content.pages.next !== undefined && { nextPageUrl: content.pages.next }),
      assets: content.items.map((item) => assetOf(item, content)),
    },
    null,
    2,
  );
}

function assetOf(item: FeedItem, { links }: FeedContent) {
  const seconds = secondsOf(item);
  const { short, long } = descriptionsOf(item);
  const tags = tagsOf(item, 20);
  return {
    id: item.videoId,
    type: seconds <= SHORT_FORM_MAX_S ? 'shortForm' : 'movie',
    titles: [said(clipped(titleOf(item), 200))],
    shortDescriptions: [said(short)],
    longDescriptions: [said(long ?? short)],
    releaseDate: dayOf(item.createdAtMs),
    genres: [GENRE],
    ...(tags.length > 0 && { tags }),
    advisoryRatings: [RATING],
    images: [{ type: 'main', url: links.thumbnail(item.videoId), languages: [LANGUAGE] }],
    durationInSeconds: seconds,
    content: { playOptions: [playOptionOf(item)] },
  };
}

function said(value: string) {
  return { value, languages: [LANGUAGE] };
}

/**
 * Returns a free play option, available from the video's creation. Roku and the app agree on the meaning of `playId`;
 * here it is the video's id.
 */
function playOptionOf(item: FeedItem) {
  return {
    license: 'free',
    quality: searchQualityOf(item),
    playId: item.videoId,
    availabilityStartTime: zonedTime(item.createdAtMs),
    availabilityInfo: { country: [COUNTRY] },
  };
}

function searchQualityOf({ media }: FeedItem): 'sd' | 'hd' | 'fhd' | 'uhd' {
  const lines = Math.min(media.width ?? 0, media.height ?? 0);
  if (lines >= 2160) return 'uhd';
  if (lines >= 1080) return 'fhd';
  return lines >= 720 ? 'hd' : 'sd';
}
