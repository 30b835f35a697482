import type { FeedItem } from '../store/feeds.ts';
import { tagsOf, titleOf, type FeedContent } from './content.ts';
import { descriptionsOf, secondsOf, SHORT_FORM_MAX_S } from './ctv.ts';
import { COUNTRY, GENRE, LANGUAGE, RATING } from './defaults.ts';
import { clipped, dayOf, zonedTime } from './text.ts';

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
    quality: qualityOf(item),
    playId: item.videoId,
    availabilityStartTime: zonedTime(item.createdAtMs),
    availabilityInfo: { country: [COUNTRY] },
  };
}

function qualityOf({ media }: FeedItem): 'sd' | 'hd' | 'fhd' | 'uhd' {
  const lines = Math.min(media.width ?? 0, media.height ?? 0);
  if (lines >= 2160) return 'uhd';
  if (lines >= 1080) return 'fhd';
  return lines >= 720 ? 'hd' : 'sd';
}
