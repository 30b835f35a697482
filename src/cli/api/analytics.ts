import type { AnalyticsOverview, Period, VideoAnalytics } from '@dropcast/client';
import { hasColour } from '../../log/colour.ts';
import { renderDetails } from '../output/details.ts';
import { formatCount, formatDuration, formatPercent, UNKNOWN } from '../output/format.ts';
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

/** `dropcast analytics video ID`. */
export async function videoAnalytics({ shell, client }: Session, id: string, options: AnalyticsOptions): Promise<void> {
  const period = periodOf(options, Date.now());
  const record = await client.analytics.video(id, period, { signal: shell.stopping });
  if (options.json === true) printJson(videoAnalyticsForm(record), shell.stdout);
  else shell.stdout.write(describeRecord(record, shell));
}

/** `dropcast analytics overview`: the whole account, or one channel. */
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

function describeRecord(record: VideoAnalytics, shell: Shell): string {
  // Without views there is no average.
  const ofViews = (text: string): string => (record.views === 0 ? UNKNOWN : text);
  const details = [
    { label: 'video', value: record.videoId },
    { label: 'period', value: periodText(record.period) },
    { label: 'views', value: formatCount(record.views) },
    { label: 'unique viewers', value: formatCount(record.uniqueViewers) },
    { label: 'average watch time', value: ofViews(formatDuration(record.avgWatchTimeSeconds * 1000)) },
    { label: 'completion rate', value: ofViews(formatPercent(record.completionRate, 1)) },
  ];
  return renderDetails(details, hasColour(shell.stdout, shell.env));
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

/** Null when neither the question nor the answer names a day. */
function periodText({ from, to }: Required<Period>): string | null {
  if (from === to) return from || null;
  return `${from || 'the beginning'} to ${to || 'now'}`;
}
