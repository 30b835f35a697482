import type { AnalyticsOverview, Engagement, Period } from '@dropcast/client';
import { given } from '../argument-types.ts';
import { formatCount, formatDuration, formatPercent, UNKNOWN } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { renderDetails, tableOf } from '../output/table.ts';
import type { Shell } from '../shell.ts';
import { periodOf } from './period.ts';
import { printList } from './print-list.ts';
import type { Session } from './session.ts';

export interface AnalyticsOptions extends Period {
  readonly json?: boolean;
  readonly channel?: string;
}

/** `dropcast analytics video ID`: shows the statistics of one video. */
export async function videoAnalytics({ shell, client }: Session, options: AnalyticsOptions, id: string): Promise<void> {
  const period = periodOf(options, Date.now());
  const record = await client.analytics.video(id, period, { signal: shell.stopping });
  printResult(videoAnalyticsForm(record), { shell, json: options.json }, () =>
    renderDetails(
      [
        ['video', record.videoId],
        ['period', periodText(record.period)],
        ['views', formatCount(record.views)],
        ['unique viewers', formatCount(record.uniqueViewers)],
        ['average watch time', watchTime(record)],
        ['completion rate', completion(record)],
      ],
      shell,
    ),
  );
}

export interface AnalyticsListOptions extends AnalyticsOptions {
  /** Maximum number of rows, at least 1. */
  readonly limit: number;
}

/** `dropcast analytics videos`: prints one row per video, in the service's order. */
export async function analyticsOfVideos({ shell, client }: Session, options: AnalyticsListOptions): Promise<void> {
  const { limit, json } = options;
  const records = await client.analytics.videos({ ...queryOf(options), limit }, { signal: shell.stopping }).toArray();
  printList(
    { videos: records.map(videoAnalyticsForm) },
    { shell, json },
    {
      items: records,
      limit,
      none: 'No videos found.',
      columns: [
        ['VIEWS', ({ views }) => formatCount(views), { align: 'right' }],
        ['VIEWERS', ({ uniqueViewers }) => formatCount(uniqueViewers), { align: 'right' }],
        ['WATCHED', watchTime, { align: 'right' }],
        ['COMPLETED', completion, { align: 'right' }],
        ['ID', ({ videoId }) => videoId ?? UNKNOWN],
      ],
    },
  );
}

/** `dropcast analytics overview`: prints totals for the whole account or one channel. */
export async function analyticsOverview({ shell, client }: Session, options: AnalyticsOptions): Promise<void> {
  const record = await client.analytics.overview(queryOf(options), { signal: shell.stopping });
  const { totalViews: total_views, uniqueViewers: unique_viewers, topVideos: top_videos } = record;
  const document = { period: periodForm(record.period), total_views, unique_viewers, top_videos };
  printResult(document, { shell, json: options.json }, () => describeOverview(record, shell));
}

function describeOverview({ period, totalViews, uniqueViewers, topVideos }: AnalyticsOverview, shell: Shell): string {
  const totals = renderDetails(
    [
      ['period', periodText(period)],
      ['views', formatCount(totalViews)],
      ['unique viewers', formatCount(uniqueViewers)],
    ],
    shell,
  );
  if (topVideos.length === 0) return totals;
  const top = tableOf(
    topVideos,
    [
      ['VIEWS', ({ views }) => formatCount(views), { align: 'right' }],
      ['ID', ({ id }) => id],
      ['TITLE', ({ title }) => title, { cut: 'end' }],
    ],
    shell,
  );
  return `${totals}\nMost viewed\n${top}`;
}

function queryOf({ channel, ...days }: AnalyticsOptions): Period & { readonly channelId?: string } {
  return { ...periodOf(days, Date.now()), ...given({ channelId: channel }) };
}

/** Figures as `--json` prints them, with the API's field names (api-spec section 2). */
function videoAnalyticsForm(record: Engagement) {
  return {
    video_id: record.videoId ?? null,
    period: periodForm(record.period),
    views: record.views,
    unique_viewers: record.uniqueViewers,
    avg_watch_time_seconds: record.avgWatchTimeSeconds,
    completion_rate: record.completionRate,
  };
}

type Days = Engagement['period'];

/** The period as JSON. The client uses an empty string for a day that neither the request nor the response names. */
function periodForm({ from, to }: Days) {
  return { from: from || null, to: to || null };
}

/** Formats the period; null if neither the request nor the response names a day. */
function periodText({ from, to }: Days): string | null {
  if (from === to) return from || null;
  return `${from || 'the beginning'} to ${to || 'now'}`;
}

/** Formats the average watch time. There is no average without views. */
function watchTime({ views, avgWatchTimeSeconds }: Engagement): string {
  return views === 0 ? UNKNOWN : formatDuration(avgWatchTimeSeconds * 1000);
}

function completion({ views, completionRate }: Engagement): string {
  return views === 0 ? UNKNOWN : formatPercent(completionRate, 1);
}
