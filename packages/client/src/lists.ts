import { checkOptions } from './caller.ts';
import type { Caller } from './caller.ts';
import { pagesOf } from './pages.ts';
import { requireWithin } from './settings.ts';
import type { AnalyticsQuery, Pages, RequestOptions, VideoQuery } from './video-client.ts';
import type { AnalyticsPage, Engagement } from './wire/analytics.ts';
import { analyticsPage, listVideos } from './wire/requests.ts';
import type { VideoListItem, VideoPage } from './wire/videos.ts';

/** The largest page size that the service allows (api-spec section 8). */
const mostPerPage = 100;

/** @throws TypeError the query or options are out of range */
export function videoPages(
  caller: Caller,
  { perPage = mostPerPage, limit, ...filter }: VideoQuery,
  options: RequestOptions,
): Pages<VideoListItem, VideoPage> {
  requireWithin('perPage', perPage, [1, mostPerPage]);
  checkOptions(options);
  return pagesOf({
    ask: (page) => caller.call(() => listVideos({ ...filter, page: checkedPage(page), perPage }), options),
    itemsOf: ({ videos }) => videos,
    idOf: ({ id }) => id,
    // Only an empty page marks the end (api-spec section 4.1): `total` changes while pages are being read.
    hasMore: () => true,
    limit,
  });
}

/** @throws TypeError the query or options are out of range */
export function analyticsPages(
  caller: Caller,
  { limit, ...query }: AnalyticsQuery,
  options: RequestOptions,
): Pages<Engagement, AnalyticsPage> {
  checkOptions(options);
  return pagesOf({
    ask: (page) => caller.call(() => analyticsPage({ ...query, page: checkedPage(page) }), options),
    itemsOf: ({ records }) => records,
    idOf: ({ videoId }) => videoId,
    // The specification does not describe paging here, so ask for another page only if `total` exceeds the records
    // received.
    hasMore: ({ total }, soFar) => total !== null && total > soFar,
    limit,
  });
}

function checkedPage(page: number): number {
  requireWithin('page', page, [1, Number.MAX_SAFE_INTEGER]);
  return page;
}
