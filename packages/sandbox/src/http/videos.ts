import { z } from 'zod';
import type { CreatedVideo, VideoAnswer, VideoList } from '../contract/types.gen.ts';
import type { NewVideoFields } from '../video-admission.ts';
import type { Services } from '../services.ts';
import { ApiError } from './api-error.ts';
import { RecentMap } from '../analytics/recent-map.ts';
import { mostDailyVideos, type Switches } from '../profiles/switch-table.ts';
import { isWebAddress, jsonBody, query, pageNumber, nameField, textField, type Handler } from './input.ts';
import { videoListItem, wholeVideo } from './wire.ts';

type ReadParts = Pick<Services, 'records' | 'lifecycle' | 'links'>;
type Switched = Pick<Services, 'switchboard'>;

/** GET /videos: newest first (assumed). Without a status filter, pending videos are included (assumed). */
export function listVideos({ records: { videos }, lifecycle, links, switchboard }: ReadParts & Switched): Handler {
  return (context) => {
    const { unknown_parameters: unknown, per_page_over_100: beyond, list_order: order } = switchboard.now;
    const asked = query(context.req.raw, beyond === 'clamp' ? clampingQuery : listQuery, unknown);
    lifecycle.advance();
    const filter = { channelId: asked.channel_id, status: asked.status };
    const page =
      order === 'oldest'
        ? videos.pageFromOldest(filter, asked.page, asked.per_page)
        : videos.page(filter, asked.page, asked.per_page);
    return context.json({
      data: page.videos.map((video) => videoListItem(video, links)),
      meta: { page: asked.page, per_page: asked.per_page, total: page.total },
    } satisfies VideoList);
  };
}

/**
 * POST /videos. assumed: 201; channel_id defaults to the account's first channel; a video with a source_url also gets
 * an upload_url.
 */
export function createVideo({
  records: { channels, videos },
  admission,
  clock,
  events,
  switchboard,
}: Pick<Services, 'records' | 'admission' | 'clock' | 'events'> & Switched): Handler {
  /** Answers by `Idempotency-Key`; the oldest are forgotten, as services do after a day or so. */
  const known = new RecentMap<CreatedVideo>(10_000);
  events.listen(({ type }) => {
    if (type === 'reset') known.clear(); // ids are then reused
  });
  return async (context) => {
    const body = await jsonBody(context.req.raw, createBody, { unknown: switchboard.now.unknown_fields });
    const key = switchboard.now.idempotency_key === 'honoured' ? context.req.header('idempotency-key') : undefined;
    const before = key === undefined ? undefined : known.get(key);
    if (before !== undefined) return context.json(before, 201);
    const channelId = body.channel_id ?? channels.list()[0]?.id;
    if (channelId === undefined) throw new ApiError('invalid_request', 'channel_id: the account has no channel.');
    if (!channels.find(channelId)) throw new ApiError('invalid_request', 'channel_id: there is no such channel.');
    const fields: NewVideoFields = {
      title: body.title,
      description: body.description ?? null,
      channelId,
      tags: body.tags ?? [],
      sourceUrl: body.source_url ?? null,
    };
    refuseBeyondQuota(switchboard.now.daily_videos, videos, clock.nowMs());
    const { id, uploadUrl } = admission.admit(fields);
    const created: CreatedVideo = { id, upload_url: uploadUrl, status: 'pending' };
    if (key !== undefined) known.set(key, created);
    return context.json(created, 201);
  };
}

const dayMs = 24 * 60 * 60_000;

/** @throws ApiError the account has its videos of the day */
function refuseBeyondQuota(
  code: Switches['daily_videos'],
  videos: Pick<Services['records']['videos'], 'countSince'>,
  nowMs: number,
): void {
  const midnightMs = Math.floor(nowMs / dayMs) * dayMs;
  if (code === 'any' || videos.countSince(midnightMs) < mostDailyVideos) return;
  const retryAfter = { 'Retry-After': String(Math.ceil((midnightMs + dayMs - nowMs) / 1_000)) };
  const says = `The account has reached its ${mostDailyVideos} videos of the day.`;
  throw new ApiError(code, says, code === 'daily_limit_reached' ? retryAfter : {});
}

/** GET /videos/:id. assumed: wrapped in data, as api-spec section 4 states for answers in general. */
export function getVideo({ records: { videos }, lifecycle, links }: ReadParts): Handler {
  return (context) => {
    lifecycle.advance();
    const video = videos.find(context.req.param('id') ?? '');
    if (!video) throw noSuchVideo();
    return context.json({ data: wholeVideo(video, links) } satisfies VideoAnswer);
  };
}

/** PATCH /videos/:id. assumed: answers with the changed video; an empty object changes nothing. */
export function updateVideo({
  records: { videos },
  lifecycle,
  links,
  events,
  switchboard,
}: ReadParts & Switched & Pick<Services, 'events'>): Handler {
  return async (context) => {
    const id = context.req.param('id') ?? '';
    if (!videos.find(id)) throw noSuchVideo();
    const body = await jsonBody(context.req.raw, updateBody, { unknown: switchboard.now.unknown_fields });
    lifecycle.advance();
    const video = videos.change(id, body);
    if (!video) throw noSuchVideo();
    events.emit('video.updated', id);
    return context.json({ data: wholeVideo(video, links) } satisfies VideoAnswer);
  };
}

/** DELETE /videos/:id. assumed: 204 without a body; deleting again is 404. */
export function deleteVideo({
  admission,
  mediaFiles,
  switchboard,
}: Pick<Services, 'admission' | 'mediaFiles'> & Switched): Handler {
  return async (context) => {
    const id = context.req.param('id') ?? '';
    if (!admission.withdraw(id)) {
      if (switchboard.now.second_delete === '204') return context.body(null, 204);
      throw noSuchVideo();
    }
    await mediaFiles.remove(id);
    return context.body(null, 204);
  };
}

const listQuery = z.strictObject({
  page: pageNumber(999_999_999).default(1),
  per_page: pageNumber(100).default(25),
  channel_id: z.string().min(1, 'must not be empty').optional(),
  status: z.enum(['processing', 'ready', 'failed'], 'must be processing, ready or failed').optional(),
});

const clampingQuery = listQuery.extend({
  per_page: pageNumber(999_999_999)
    .transform((size) => Math.min(size, 100))
    .default(25),
});

const title = nameField(500);
const description = textField(10_000);
const tags = z.array(nameField(200), 'must be an array of strings').max(200, 'must have at most 200 tags');
const sourceUrl = textField(4096).refine(
  isWebAddress,
  'must be an http or https address without user name and password',
);

const createBody = z.strictObject({
  title,
  description: description.optional(),
  channel_id: z.string('must be a string').optional(),
  tags: tags.optional(),
  source_url: sourceUrl.optional(),
});

const updateBody = z.strictObject({
  title: title.optional(),
  description: description.optional(),
  tags: tags.optional(),
});

function noSuchVideo(): ApiError {
  return new ApiError('not_found', 'There is no such video.');
}
