import * as z from 'zod/mini';

import { Id, Text } from './fields.ts';
import { orMissing } from './or-missing.ts';
import { readMeta } from './list-page.ts';
import { counted, many, one, present, unwrapped } from './reader.ts';
import type { Entries, Reader } from './reader.ts';

/** Days as `YYYY-MM-DD`, UTC, both inclusive. The service chooses what is left out. */
export interface Period {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Views and engagement (api-spec section 2.5) of one video, or of whatever else a record without a video is about. */
export interface Engagement {
  /** Empty texts where neither the answer nor the request says it. */
  readonly period: Readonly<Record<keyof Period, string>>;
  readonly views: number;
  readonly uniqueViewers: number;
  /** Mean, in seconds, of one view; 0 without views. */
  readonly avgWatchTimeSeconds: number;
  /** 0 to 1; 0 without views. */
  readonly completionRate: number;
  readonly videoId?: string;
}

/** The figures of one video. */
export interface VideoAnalytics extends Engagement {
  readonly videoId: string;
}

/** One page of the figures of several videos. */
export interface AnalyticsPage {
  readonly records: readonly Engagement[];
  /** Number on all pages; null if the service does not state it. */
  readonly total: number | null;
  /** How many more entries the page has, which are not records as the specification shows them. */
  readonly unreadable: number;
}

/** Totals of the account or of a channel. */
export interface AnalyticsOverview {
  /** Empty texts where neither the answer nor the request says it. */
  readonly period: Readonly<Record<keyof Period, string>>;
  readonly totalViews: number;
  readonly uniqueViewers: number;
  /** Most views first, as the service orders them. */
  readonly topVideos: readonly { readonly id: string; readonly title: string; readonly views: number }[];
}

const PeriodAnswer = orMissing(z.object({ from: Text, to: Text }));
const Views = z.int().check(z.nonnegative());

/** Without views there is no average: a service may send null. */
const Average = z.pipe(
  z.nullish(z.number().check(z.nonnegative())),
  z.transform((value: number | null | undefined) => value ?? 0),
);

const EngagementAnswer = z.object({
  video_id: orMissing(Id),
  period: PeriodAnswer,
  views: Views,
  unique_viewers: Views,
  avg_watch_time_seconds: Average,
  completion_rate: Average,
});

const TopVideo = z.object({ id: Id, title: Text, views: Views });

const OverviewAnswer = z.object({
  period: PeriodAnswer,
  total_views: Views,
  unique_viewers: Views,
  top_videos: z.optional(z.unknown()),
});

const readRecord = one(EngagementAnswer);
const readRecords = counted(EngagementAnswer);
const readTopVideos = many(TopVideo);
const readTotals = one(OverviewAnswer);

/** The figures of one video, also from a list of records. What the answer lacks comes from the request. */
export function readVideoAnalytics(asked: Period & { readonly videoId: string }): Reader<VideoAnalytics> {
  return (json) => {
    const wire = Array.isArray(unwrapped(json))
      ? ofVideo(readRecords(json)?.entries ?? [], asked.videoId)
      : readRecord(json);
    return wire && { ...engagementOf(wire, asked), videoId: wire.video_id ?? asked.videoId };
  };
}

/** The figures of several videos; a service that answers with one record answers with a list of one. */
export function readAnalyticsPage(asked: Period): Reader<AnalyticsPage> {
  return (json) => {
    const read = Array.isArray(unwrapped(json)) ? readRecords(json) : asList(readRecord(json));
    if (read === undefined) return undefined;
    const records = read.entries.map((wire) => engagementOf(wire, asked));
    return { records, total: readMeta(json).total ?? null, unreadable: read.unreadable };
  };
}

/** The figures of an account or a channel; a period that the answer lacks comes from the request. */
export function readOverview(asked: Period): Reader<AnalyticsOverview> {
  return (json) => {
    const wire = readTotals(json);
    if (wire === undefined) return undefined;
    return {
      period: periodOf(wire.period, asked),
      totalViews: wire.total_views,
      uniqueViewers: wire.unique_viewers,
      topVideos: (readTopVideos(wire.top_videos) ?? []).map(({ id, title, views }) => ({
        id,
        title: title ?? '',
        views,
      })),
    };
  };
}

type WireRecord = z.output<typeof EngagementAnswer>;

/** A record that names no video is about the one that was asked for. */
function ofVideo(records: readonly WireRecord[], videoId: string): WireRecord | undefined {
  return records.find(({ video_id: id }) => (id ?? videoId) === videoId);
}

function asList(record: WireRecord | undefined): Entries<WireRecord> | undefined {
  return record && { entries: [record], unreadable: 0 };
}

function engagementOf(wire: WireRecord, asked: Period): Engagement {
  return {
    ...present({ videoId: wire.video_id }),
    period: periodOf(wire.period, asked),
    views: wire.views,
    uniqueViewers: wire.unique_viewers,
    avgWatchTimeSeconds: wire.avg_watch_time_seconds,
    completionRate: wire.completion_rate,
  };
}

function periodOf(said: z.output<typeof PeriodAnswer>, asked: Period): Readonly<Record<keyof Period, string>> {
  return { from: said?.from ?? asked.from ?? '', to: said?.to ?? asked.to ?? '' };
}
