import { barChart, card, counted, fileSize, span, type BarChart, type View } from '@dropcast/pages';
import { html } from 'hono/html';
import { requestMarks, requestsByDay } from '../../../daemon/request-days.ts';
import { daysShown, type DayOfFiles } from '../../../view/days.ts';
import { dayAndSecond } from '../../../view/words/text.ts';
import type { PageEvent, PageWorld } from '../world.ts';

/** Shows files, bytes, durations and requests of the last 30 days, each as a chart with its table. */
export async function days({ daemon, memory, now }: PageWorld): Promise<View<PageEvent>> {
  const all = await memory.days(now);
  const { total } = daemon.gate.snapshot();
  const requests = requestsByDay(await requestMarks(daemon.ledger), { at: now, total });
  const done = all.reduce((sum, day) => sum + day.done, 0);
  const bytes = all.reduce((sum, day) => sum + day.bytes, 0);
  const chart = ({ title, of, failedOf, ...words }: Panel) => {
    const bars = all.map((day) => ({
      name: dayAndSecond(day.at).slice(0, 10),
      count: of({ ...day, requests: requests.get(day.at) ?? 0 }),
      ...(failedOf && { failed: failedOf(day) }),
    }));
    return card({ title, key: title, body: barChart(bars, { ...words, per: 'Day', short: (name) => name.slice(5) }) });
  };
  return {
    title: `${daysShown} days`,
    section: '/days',
    changesWith: ['command'],
    aside: html`<span class="muted">${counted(done, 'file')} done, ${fileSize(bytes)}</span>`,
    body: html`<div class="pair">${panels.map(chart)}</div>`,
  };
}

interface Panel extends Omit<BarChart, 'per' | 'short'> {
  readonly title: string;
  of(day: DayOfFiles & { readonly requests: number }): number;
  failedOf?(day: DayOfFiles): number;
}

const duration = { unit: 'duration', show: span, isTotalled: false } as const;

const panels: readonly Panel[] = [
  {
    title: 'Files',
    label: 'Files done, and failed or held, per day',
    unit: 'file',
    of: ({ done, failed }) => done + failed,
    failedOf: ({ failed }) => failed,
  },
  { title: 'Bytes', label: 'Bytes of files done per day', unit: 'byte', show: fileSize, of: ({ bytes }) => bytes },
  {
    ...duration,
    title: 'From drop to done: median',
    label: 'Median time from drop to done',
    of: ({ medianMs }) => medianMs ?? 0,
  },
  {
    ...duration,
    title: 'From drop to done: 95 % are faster',
    label: 'Time from drop to done, 95th percentile',
    of: ({ p95Ms }) => p95Ms ?? 0,
  },
  { title: 'Requests', label: 'Requests per day', unit: 'request', of: ({ requests }) => requests },
];
