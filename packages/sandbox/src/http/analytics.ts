import { z } from 'zod';
import type { OverviewAnswer, VideoAnalyticsAnswer, VideoAnalyticsList } from '../contract/types.gen.ts';
import { dayCount, MAX_DAYS, periodOf, type AskedPeriod, type Period } from '../analytics/period.ts';
import type { Services } from '../services.ts';
import { ApiError } from './api-error.ts';
import { query, pageNumber, type Handler } from './input.ts';
import { overviewRecord, videoAnalytics } from './wire.ts';

type ReadParts = Pick<Services, 'records' | 'clock' | 'switchboard'>;

/**
 * GET /analytics/videos. With video_id: that video's record (api-spec section 4.4). assumed: without it, the records of
 * all videos, or of those in channel_id, most views first, paged like GET /videos; a video_id together with another
 * channel's id is 404.
 */
export function videosAnalytics({ records, clock, switchboard }: ReadParts): Handler {
  const { videos, statistics } = records;
  return (context) => {
    const asked = query(context.req.raw, videosQuery, switchboard.now.unknown_parameters);
    const period = periodAsked(asked, clock.nowMs());
    requireChannel(records, asked.channel_id);
    if (asked.video_id !== undefined) {
      requireVideo(records, asked.video_id, asked.channel_id);
      return context.json({
        data: videoAnalytics(statistics.ofVideo(asked.video_id, period), period),
      } satisfies VideoAnalyticsAnswer);
    }
    const page = { page: asked.page, perPage: asked.per_page };
    return context.json({
      data: statistics.ofVideos(asked.channel_id, period, page).map((video) => videoAnalytics(video, period)),
      meta: { page: asked.page, per_page: asked.per_page, total: videos.count({ channelId: asked.channel_id }) },
    } satisfies VideoAnalyticsList);
  };
}

/** GET /analytics/overview, for the whole account or one channel (api-spec section 4.4). */
export function overviewAnalytics({ records, clock, switchboard }: ReadParts): Handler {
  return (context) => {
    const asked = query(context.req.raw, overviewQuery, switchboard.now.unknown_parameters);
    const period = periodAsked(asked, clock.nowMs());
    requireChannel(records, asked.channel_id);
    const overview = records.statistics.overview(asked.channel_id, period);
    return context.json({ data: overviewRecord(overview, period) } satisfies OverviewAnswer);
  };
}

/**
 * assumed: both days included, in UTC; at most 366 days. `to` defaults to today, `from` to the first of the 30 days
 * that end with `to`.
 */
function periodAsked(asked: AskedPeriod, nowMs: number): Period {
  const period = periodOf(asked, nowMs);
  const days = dayCount(period);
  if (days < 1)
    throw new ApiError('invalid_request', `from: ${period.from} is after the end of the period, ${period.to}.`);
  if (days > MAX_DAYS)
    throw new ApiError('invalid_request', `from: the period has ${days} days; at most ${MAX_DAYS} are allowed.`);
  return period;
}

function requireChannel({ channels }: Pick<Services['records'], 'channels'>, id: string | undefined): void {
  if (id !== undefined && !channels.find(id)) throw new ApiError('not_found', 'There is no such channel.');
}

function requireVideo(
  { videos }: Pick<Services['records'], 'videos'>,
  id: string,
  channelId: string | undefined,
): void {
  const video = videos.find(id);
  if (!video) throw new ApiError('not_found', 'There is no such video.');
  if (channelId !== undefined && video.channelId !== channelId)
    throw new ApiError('not_found', 'There is no such video in this channel.');
}

const FIRST_DAY = '1970-01-01';

const day = z.iso
  .date('must be a real date, YYYY-MM-DD')
  .refine((value) => value >= FIRST_DAY, `must not be before ${FIRST_DAY}`);

const overviewQuery = z.strictObject({
  channel_id: z.string().optional(),
  from: day.optional(),
  to: day.optional(),
});

const videosQuery = z.strictObject({
  ...overviewQuery.shape,
  video_id: z.string().optional(),
  page: pageNumber(999_999_999).default(1),
  per_page: pageNumber(100).default(25),
});
