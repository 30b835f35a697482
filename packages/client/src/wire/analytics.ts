import * as z from 'zod/mini';

import { Id, Text } from './fields.ts';
import { orMissing } from './tolerant.ts';
import { counted, many, one, renamed, readMeta, unwrapped } from './reader.ts';
import type { Entries, Reader } from './reader.ts';

/** A range of days as `YYYY-MM-DD`, UTC, both inclusive. The service chooses any day that is omitted. */
export interface Period {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Views and engagement (api-spec section 2.5) for one video, or for whatever a record without a video id covers. */
export interface Engagement {
  /** Days covered; empty strings where neither the response nor the request states them. */
  readonly period: Readonly<Record<keyof Period, string>>;
  readonly views: number;
  readonly uniqueViewers: number;
  /** Mean watch time per view, in seconds; 0 without views. */
  readonly avgWatchTimeSeconds: number;
  /** Share of plays completed, 0 to 1; 0 without views. */
  readonly completionRate: number;
  readonly videoId?: string;
}

/** Figures for one video. */
export interface VideoAnalytics extends Engagement {
  readonly videoId: string;
}

/** One page of figures for several videos. */
export interface AnalyticsPage {
  readonly records: readonly Engagement[];
  /** Number of records on all pages; null if the service does not state it. */
  readonly total: number | null;
  /** Number of further entries on the page that do not match the specification. */
  readonly unreadable: number;
}

/** Totals for the account or a channel. */
export interface AnalyticsOverview {
  /** Days covered; empty strings where neither the response nor the request states them. */
  readonly period: Readonly<Record<keyof Period, string>>;
  readonly totalViews: number;
  readonly uniqueViewers: number;
  /** Most viewed first, in the service's order. */
  readonly topVideos: readonly { readonly id: string; readonly title: string; readonly views: number }[];
}

const PeriodAnswer = orMissing(z.object({ from: Text, to: Text }));
const Views = z.int().check(z.nonnegative());

/** An average, which a service may send as null if there are no views. */
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

/**
 * Reads the figures for one video, even from a list of records. The request supplies fields missing from the response.
 */
export function readVideoAnalytics(asked: Period & { readonly videoId: string }): Reader<VideoAnalytics> {
  return (json) => {
    const wire = Array.isArray(unwrapped(json))
      ? ofVideo(readRecords(json)?.entries ?? [], asked.videoId)
      : readRecord(json);
    return wire && { ...engagementOf(wire, asked), videoId: wire.video_id ?? asked.videoId };
  };
}

/** Reads the figures for several videos. A single record counts as a list of one. */
export function readAnalyticsPage(asked: Period): Reader<AnalyticsPage> {
  return (json) => {
    const read = Array.isArray(unwrapped(json)) ? readRecords(json) : asList(readRecord(json));
    if (read === undefined) return undefined;
    const records = read.entries.map((wire) => engagementOf(wire, asked));
    return { records, total: readMeta(json).total ?? null, unreadable: read.unreadable };
  };
}

/** Reads the totals for an account or a channel. The request supplies a period missing from the response. */
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

/** Finds the requested video's record. A record without a video id is assumed to be that video's. */
function ofVideo(records: readonly WireRecord[], videoId: string): WireRecord | undefined {
  return records.find(({ video_id: id }) => (id ?? videoId) === videoId);
}

function asList(record: WireRecord | undefined): Entries<WireRecord> | undefined {
  return record && { entries: [record], unreadable: 0 };
}

function engagementOf(wire: WireRecord, asked: Period): Engagement {
  return { ...renamed(wire), period: periodOf(wire.period, asked) };
}

function periodOf(said: z.output<typeof PeriodAnswer>, asked: Period): Readonly<Record<keyof Period, string>> {
  return { from: said?.from ?? asked.from ?? '', to: said?.to ?? asked.to ?? '' };
}
