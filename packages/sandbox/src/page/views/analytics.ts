import type { Context } from 'hono';
import { addressOf, emptyState, grouped, percent, select, span, table, type Html, barChart } from '@dropcast/pages';
import { html } from 'hono/html';
import { z } from 'zod';
import { DAY_MS, dayOf, type Period } from '../../analytics/period.ts';
import { query } from '../../http/input.ts';
import type { TopVideo, DailyViews } from '../../store/play-statistics.ts';
import type { Services } from '../../services.ts';
import { type View, optionalText } from '../layout.ts';
import { videoLink } from '../video-table.ts';
import { channelNames } from './channels.ts';

type AnalyticsParts = Pick<Services, 'records' | 'clock' | 'links'>;

export function analytics(parts: AnalyticsParts): (context: Context) => View {
  const { records, clock } = parts;
  return (context) => {
    const { channel, days } = query(context.req.raw, asked);
    const period = lastDays(Number(days), clock.nowMs());
    const overview = records.statistics.overview(channel, period);
    const daily = records.statistics.dailyViews({ channelId: channel }, period);
    const label = `Views from ${period.from} to ${period.to}`;
    return {
      title: 'Analytics',
      section: '/_page/analytics',
      changesWith: ['video.played', 'video.deleted', 'video.updated', 'channel.updated'],
      aside: periodTabs(days, channel),
      body: html`${channelForm(parts, { channel, days })}
        <ul class="tiles" id="totals" aria-label="Totals">
          ${tile(overview.totalViews, 'views')} ${tile(overview.uniqueViewers, 'unique viewers')}
          ${tile(Math.round(overview.totalViews / Number(days)), 'views a day')}
        </ul>
        <section class="card" id="daily">
          <div class="head"><h2>${label}</h2></div>
          <div class="body">${dailyChart(daily, 'Views per day')}</div>
        </section>
        <section class="card" id="top">
          <div class="head"><h2>Top videos</h2></div>
          ${overview.topVideos.length === 0 ? noViews() : topTable(overview.topVideos, period, parts)}
        </section>`,
    };
  };
}

const DAYS = ['7', '30', '90'] as const;

const asked = z.strictObject({ channel: optionalText, days: z.enum(DAYS, `must be ${DAYS.join(', ')}`).default('30') });

/** Returns a period that ends today, in UTC. */
function lastDays(days: number, nowMs: number): Period {
  return { from: dayOf(nowMs - (days - 1) * DAY_MS), to: dayOf(nowMs) };
}

function periodTabs(chosen: string, channel: string | undefined): Html {
  return html`<nav class="tabs" aria-label="Period">
    ${DAYS.map((days) => {
      const address = addressOf({ channel, days });
      return days === chosen
        ? html`<a href="${address}" aria-current="true">${days} days</a>`
        : html`<a href="${address}">${days} days</a>`;
    })}
  </nav>`;
}

function channelForm(
  { records }: AnalyticsParts,
  { channel, days }: { channel: string | undefined; days: string },
): Html {
  const channels = [...channelNames(records.channels)].map(([value, label]) => ({ value, label }));
  return html`<form method="get" class="row" id="filter">
    <input type="hidden" name="days" value="${days}" />
    ${select('channel', 'Channel', channel, [{ value: '', label: 'The whole account' }, ...channels])}
    <button>Show</button>
  </form>`;
}

function tile(count: number, name: string): Html {
  return html`<li><strong>${grouped(count)}</strong> <span class="name">${name}</span></li>`;
}

function topTable(videos: readonly TopVideo[], period: Period, { records }: AnalyticsParts): Html {
  const rows = videos.map((video) => ({ ...video, ...records.statistics.ofVideo(video.id, period) }));
  return table({
    label: 'Top videos',
    items: rows,
    keyOf: ({ id }) => id,
    columns: [
      { heading: 'Title', kind: 'main', cell: videoLink },
      { heading: 'Views', kind: 'number', cell: ({ views }) => grouped(views) },
      { heading: 'Viewers', kind: 'minor number', cell: ({ uniqueViewers }) => grouped(uniqueViewers) },
      { heading: 'Average watch time', kind: 'minor number', cell: ({ averageWatchS }) => span(averageWatchS * 1000) },
      { heading: 'To the end', kind: 'number', cell: ({ completionRate }) => percent(completionRate) },
    ],
  });
}

function noViews(): Html {
  return emptyState(
    'No views in this period. Play a video on its embed page, or generate plays with “Add samples” under Controls.',
  );
}

/** Draws a chart of views per day. @param label of the chart */
export function dailyChart(days: readonly DailyViews[], label: string): Html {
  const bars = days.map(({ date, views }) => ({ name: date, count: views }));
  return barChart(bars, { label, per: 'Day', unit: 'view', short: (date) => date.slice(5) });
}
