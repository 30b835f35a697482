import { z } from 'zod';

import { wholeWords } from '../transport/answer-body.ts';
import { oneOf } from './known-word.ts';

// Reads what the service sends, as tolerantly as api-spec.md leaves it open: results may be bare or in `data`, unknown fields are
// dropped, unknown status words are kept, optional fields of a wrong type count as missing. Every length has a limit, and arrays are not
// left to zod: without a JIT compiler (`--jitless`) it takes seconds for a million wrong entries.

/** Entries of a list; the specification allows 100 a page. */
const mostEntries = 1000;
const mostTags = 1000;
/** Characters of an address. Signed ones have 1 to 2 KiB; servers refuse more than 8 KiB. */
export const longestAddress = 8192;
/** Characters of any other text. */
const longestText = 65_536;

const Id = z
  .union([z.string(), z.int().transform(String)])
  .refine((id) => id !== '' && id !== '.' && id !== '..' && id.length <= 500, { error: 'not a usable id' });
const Text = z.string().max(longestText).optional().catch(undefined);
const Address = z.string().max(longestAddress).optional().catch(undefined);
const Tags = z
  .custom<readonly string[]>(
    (tags) => Array.isArray(tags) && tags.length <= mostTags && tags.every((tag) => typeof tag === 'string'),
  )
  .optional()
  .catch(undefined);
const Amount = z.number().nonnegative().optional().catch(undefined);
const Count = z.int().nonnegative().optional().catch(undefined);

/** api-spec.md section 3 names these four. */
const VideoStatus = oneOf('pending', 'processing', 'ready', 'failed');

/** Fields in which a failed video may say why; the specification does not show one. */
const Reason = z
  .union([z.string().min(1), z.looseObject({ message: z.string().min(1) }).transform((error) => error.message)])
  .transform(wholeWords)
  .optional()
  .catch(undefined);

const VideoAnswer = z
  .object({
    id: Id,
    title: Text,
    description: Text,
    channel_id: Text,
    tags: Tags,
    status: VideoStatus,
    duration: Amount,
    created_at: Text,
    thumbnail_url: Address,
    embed_url: Address,
    source_url: Address,
    error: Reason,
    failure_reason: Reason,
    status_message: Reason,
  })
  .transform((wire) =>
    present({
      id: wire.id,
      status: wire.status,
      title: wire.title,
      description: wire.description,
      channelId: wire.channel_id,
      tags: wire.tags,
      duration: wire.duration,
      createdAt: wire.created_at,
      thumbnailUrl: wire.thumbnail_url,
      embedUrl: wire.embed_url,
      sourceUrl: wire.source_url,
      message: wire.error ?? wire.failure_reason ?? wire.status_message,
    }),
  );

const CreatedAnswer = z
  .object({ id: Id, upload_url: z.string().min(1).nullish(), status: VideoStatus.optional().catch(undefined) })
  .transform((wire) => ({
    id: wire.id,
    // Cut just above the limit: the record is known by its id, and `send` refuses the address.
    uploadUrl: wire.upload_url?.slice(0, longestAddress + 1) ?? null,
    status: wire.status ?? 'pending',
  }));

/** The specification does not show what is in it. */
const PlayerSettings = z
  .custom<Readonly<Record<string, unknown>>>(
    (settings) => typeof settings === 'object' && settings !== null && !Array.isArray(settings),
  )
  .optional()
  .catch(undefined);

const ChannelAnswer = z
  .object({
    id: Id,
    name: Text,
    slug: Text,
    video_count: Count,
    created_at: Text,
    description: Text,
    default_player_settings: PlayerSettings,
  })
  .transform((wire) =>
    present({
      id: wire.id,
      name: wire.name,
      slug: wire.slug,
      videoCount: wire.video_count,
      createdAt: wire.created_at,
      description: wire.description,
      defaultPlayerSettings: wire.default_player_settings,
    }),
  );

const FeedAnswer = z
  .object({ id: Id, name: Text, type: Text, channel_id: Text, url: Address, last_published_at: Text })
  .transform((wire) =>
    present({
      id: wire.id,
      name: wire.name,
      type: wire.type,
      channelId: wire.channel_id,
      url: wire.url,
      lastPublishedAt: wire.last_published_at,
    }),
  );

const PublishedAnswer = z
  .object({
    feed_id: Text,
    status: oneOf('published').optional().catch(undefined),
    published_at: Text,
    video_count: Count,
  })
  .transform((wire) => ({
    status: wire.status ?? 'published',
    ...present({ feedId: wire.feed_id, publishedAt: wire.published_at, videoCount: wire.video_count }),
  }));

const PeriodAnswer = z.object({ from: Text, to: Text }).optional().catch(undefined);

/** Without views there is no average: a service may send null. */
const Average = z
  .number()
  .nonnegative()
  .nullish()
  .transform((value) => value ?? 0);

const VideoAnalyticsAnswer = z.object({
  video_id: Id.optional().catch(undefined),
  period: PeriodAnswer,
  views: z.int().nonnegative(),
  unique_viewers: z.int().nonnegative(),
  avg_watch_time_seconds: Average,
  completion_rate: Average,
});

const TopVideo = z
  .object({ id: Id, title: Text, views: z.int().nonnegative() })
  .transform((wire) => ({ id: wire.id, title: wire.title ?? '', views: wire.views }));

const OverviewAnswer = z.object({
  period: PeriodAnswer,
  total_views: z.int().nonnegative(),
  unique_viewers: z.int().nonnegative(),
  top_videos: z.unknown().optional(),
});

const Meta = z.object({ meta: z.object({ page: Count, per_page: Count, total: Count }) });

export interface CreatedVideo {
  readonly id: string;
  /** Where `send` puts the file; null for an import. It is signed, and whoever has it may upload: do not print it. */
  readonly uploadUrl: string | null;
  readonly status: string;
}

/** A video. Only id and status are certain; times are ISO 8601, as sent. */
export interface Video {
  readonly id: string;
  /** `pending`, `processing`, `ready`, `failed`, or a word that the service adds later. */
  readonly status: string;
  readonly title?: string;
  readonly description?: string;
  readonly channelId?: string;
  readonly tags?: readonly string[];
  /** Seconds. */
  readonly duration?: number;
  readonly createdAt?: string;
  readonly thumbnailUrl?: string;
  readonly embedUrl?: string;
  /** The address of an import. */
  readonly sourceUrl?: string;
  /** Why it failed, if the service says. */
  readonly message?: string;
}

export interface VideoPage {
  readonly videos: readonly Video[];
  readonly page: number;
  readonly perPage: number;
  /** Null if the service does not say. */
  readonly total: number | null;
}

export interface Channel {
  readonly id: string;
  readonly name?: string;
  readonly slug?: string;
  readonly videoCount?: number;
  readonly createdAt?: string;
  readonly description?: string;
  readonly defaultPlayerSettings?: Readonly<Record<string, unknown>>;
}

export interface Feed {
  readonly id: string;
  readonly name?: string;
  readonly type?: string;
  readonly channelId?: string;
  readonly url?: string;
  readonly lastPublishedAt?: string;
}

export interface Published {
  readonly feedId?: string;
  /** `published`. */
  readonly status: string;
  readonly publishedAt?: string;
  readonly videoCount?: number;
}

/** Days as `YYYY-MM-DD`, UTC, both inclusive. The service chooses what is left out. */
export interface Period {
  readonly from?: string;
  readonly to?: string;
}

export interface VideoAnalytics {
  readonly videoId: string;
  readonly period: Required<Period>;
  readonly views: number;
  readonly uniqueViewers: number;
  /** Mean, in seconds, of one view; 0 without views. */
  readonly avgWatchTimeSeconds: number;
  /** 0 to 1; 0 without views. */
  readonly completionRate: number;
}

export interface AnalyticsOverview {
  readonly period: Required<Period>;
  readonly totalViews: number;
  readonly uniqueViewers: number;
  /** Most views first, as the service orders them. */
  readonly topVideos: readonly { readonly id: string; readonly title: string; readonly views: number }[];
}

/** Reads a value from parsed JSON; undefined if it has another shape. */
export type Reader<T> = (json: unknown) => T | undefined;

export const readVideo: Reader<Video> = one(VideoAnswer);
export const readCreated: Reader<CreatedVideo> = one(CreatedAnswer);
export const readPublished: Reader<Published> = one(PublishedAnswer);
export const readChannel: Reader<Channel> = one(ChannelAnswer);
export const readChannels: Reader<readonly Channel[]> = many(ChannelAnswer);
export const readFeeds: Reader<readonly Feed[]> = many(FeedAnswer);

/** A page of videos; what `meta` of the answer lacks comes from the request. */
export function readVideoPage(asked: { readonly page: number; readonly perPage: number }): Reader<VideoPage> {
  const readVideos = many(VideoAnswer);
  return (json) => {
    const videos = readVideos(json);
    if (videos === undefined) return undefined;
    const { page, per_page: perPage, total } = Meta.safeParse(json).data?.meta ?? {};
    return { videos, page: page ?? asked.page, perPage: perPage ?? asked.perPage, total: total ?? null };
  };
}

/** The figures of one video; a period or id that the answer lacks comes from the request. */
export function readVideoAnalytics(asked: Period & { readonly videoId: string }): Reader<VideoAnalytics> {
  const readFigures = one(VideoAnalyticsAnswer);
  return (json) => {
    const wire = readFigures(json);
    if (wire === undefined) return undefined;
    return {
      videoId: wire.video_id ?? asked.videoId,
      period: periodOf(wire.period, asked),
      views: wire.views,
      uniqueViewers: wire.unique_viewers,
      avgWatchTimeSeconds: wire.avg_watch_time_seconds,
      completionRate: wire.completion_rate,
    };
  };
}

/** The figures of an account or a channel; a period that the answer lacks comes from the request. */
export function readOverview(asked: Period): Reader<AnalyticsOverview> {
  const readFigures = one(OverviewAnswer);
  const readTop = many(TopVideo);
  return (json) => {
    const wire = readFigures(json);
    if (wire === undefined) return undefined;
    return {
      period: periodOf(wire.period, asked),
      totalViews: wire.total_views,
      uniqueViewers: wire.unique_viewers,
      topVideos: readTop(wire.top_videos) ?? [],
    };
  };
}

/** Empty strings where neither the answer nor the request says it. */
function periodOf(said: z.output<typeof PeriodAnswer>, asked: Period): Required<Period> {
  return { from: said?.from ?? asked.from ?? '', to: said?.to ?? asked.to ?? '' };
}

function one<T>(schema: z.ZodType<T>): Reader<T> {
  return (json) => schema.safeParse(unwrapped(json)).data;
}

/** A list without its unreadable entries: one odd record must not hide a hundred good ones. */
function many<T>(schema: z.ZodType<T>): Reader<readonly T[]> {
  return (json) => {
    const list = unwrapped(json);
    if (!Array.isArray(list)) return undefined;
    return list.slice(0, mostEntries).flatMap((entry: unknown) => {
      const read = schema.safeParse(entry);
      return read.success ? [read.data] : [];
    });
  };
}

function unwrapped(json: unknown): unknown {
  const isWrapped =
    typeof json === 'object' && json !== null && 'data' in json && typeof json.data === 'object' && json.data !== null;
  return isWrapped ? json.data : json;
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without the keys whose value is undefined. */
function present<T extends object>(value: T): Present<T> {
  return Object.fromEntries(Object.entries(value).filter(([, held]) => held !== undefined)) as Present<T>;
}
