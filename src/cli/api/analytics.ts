import type { AnalyticsOverview, Engagement, Period } from '@dropcast/client';
import { hasColour } from '../../log/colour.ts';
import { renderDetails } from '../output/details.ts';
import { counted, formatCount, formatDuration, formatPercent, UNKNOWN } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { renderTable } from '../output/table.ts';
import { tableOptions } from '../output/file-table.ts';
import type { Shell } from '../shell.ts';
import { overviewForm, videoAnalyticsForm } from './json-forms.ts';
import { periodOf } from './period.ts';
import type { Session } from './session.ts';

export interface AnalyticsOptions extends Period {
  readonly json?: boolean;
}

/** `dropcast analytics video ID`: shows the statistics of one video. */
export async function videoAnalytics({ shell, client }: Session, id: string, options: AnalyticsOptions): Promise<void> {
  const period = periodOf(options, Date.now());
  const record = await client.analytics.video(id, period, { signal: shell.stopping });
  if (options.json === true) printJson(videoAnalyticsForm(record), shell.stdout);
  else shell.stdout.write(describeRecord(record, shell));
}

export interface AnalyticsListOptions extends AnalyticsOptions {
  readonly channel?: string;
  /** Maximum number of rows, at least 1. */
  readonly limit: number;
}

/** `dropcast analytics videos`: prints one row per video, in the service's order. */
export async function analyticsOfVideos(
  { shell, client }: Session,
  { channel, limit, json, ...days }: AnalyticsListOptions,
): Promise<void> {
  const query = { ...periodOf(days, Date.now()), ...(channel !== undefined && { channelId: channel }), limit };
  const records = await client.analytics.videos(query, { signal: shell.stopping }).toArray();
  if (json === true) return printJson({ videos: records.map(videoAnalyticsForm) }, shell.stdout);
  if (records.length === 0) shell.stderr.write('No videos found.\n');
  else shell.stdout.write(describeRecords(records, shell));
  if (records.length === limit)
    shell.stderr.write(`Stopped at ${counted(limit, 'video')}; there may be more: raise --limit.\n`);
}

/** `dropcast analytics overview`: prints totals for the whole account or one channel. */
export async function analyticsOverview(
  { shell, client }: Session,
  options: AnalyticsOptions & { readonly channel?: string },
): Promise<void> {
  const { channel } = options;
  const query = { ...periodOf(options, Date.now()), ...(channel !== undefined && { channelId: channel }) };
  const record = await client.analytics.overview(query, { signal: shell.stopping });
  if (options.json === true) printJson(overviewForm(record), shell.stdout);
  else shell.stdout.write(describeOverview(record, shell));
}

function describeRecord(record: Engagement, shell: Shell): string {
  const details = [
    { label: 'video', value: record.videoId ?? null },
    { label: 'period', value: periodText(record.period) },
    { label: 'views', value: formatCount(record.views) },
    { label: 'unique viewers', value: formatCount(record.uniqueViewers) },
    { label: 'average watch time', value: watchTime(record) },
    { label: 'completion rate', value: completion(record) },
  ];
  return renderDetails(details, hasColour(shell.stdout, shell.env));
}

function describeRecords(records: readonly Engagement[], shell: Shell): string {
  const columns = [
    { title: 'VIEWS', align: 'right' as const },
    { title: 'VIEWERS', align: 'right' as const },
    { title: 'WATCHED', align: 'right' as const },
    { title: 'COMPLETED', align: 'right' as const },
    { title: 'ID' },
  ];
  const rows = records.map((record) => [
    formatCount(record.views),
    formatCount(record.uniqueViewers),
    watchTime(record),
    completion(record),
    record.videoId ?? UNKNOWN,
  ]);
  return renderTable(columns, rows, tableOptions(shell));
}

/** Formats the average watch time. There is no average without views. */
function watchTime({ views, avgWatchTimeSeconds }: Engagement): string {
  return views === 0 ? UNKNOWN : formatDuration(avgWatchTimeSeconds * 1000);
}

function completion({ views, completionRate }: Engagement): string {
  return views === 0 ? UNKNOWN : formatPercent(completionRate, 1);
}

function describeOverview({ period, totalViews, uniqueViewers, topVideos }: AnalyticsOverview, shell: Shell): string {
  const details = [
    { label: 'period', value: periodText(period) },
    { label: 'views', value: formatCount(totalViews) },
    { label: 'unique viewers', value: formatCount(uniqueViewers) },
  ];
  const columns = [
    { title: 'VIEWS', align: 'right' as const },
    { title: 'ID' },
    { title: 'TITLE', cut: 'end' as const },
  ];
  const rows = topVideos.map(({ id, title, views }) => [formatCount(views), id, title]);
  const top = rows.length === 0 ? '' : `\nMost viewed\n${renderTable(columns, rows, tableOptions(shell))}`;
  return renderDetails(details, hasColour(shell.stdout, shell.env)) + top;
}

/** Formats the period; null if neither the request nor the answer names a day. */
function periodText({ from, to }: Readonly<Record<keyof Period, string>>): string | null {
  if (from === to) return from || null;
  return `${from || 'the beginning'} to ${to || 'now'}`;
}
