import { barChart, type Html } from '@dropcast/pages';
import type { DailyViews } from '../store/play-statistics.ts';

/** Draws a chart of views per day. @param label of the chart */
export function dailyChart(days: readonly DailyViews[], label: string): Html {
  const bars = days.map(({ date, views }) => ({ name: date, count: views }));
  return barChart(bars, { label, per: 'Day', unit: 'view', short: (date) => date.slice(5) });
}
