import { barChart, counted, fileSize, span, type Bar, type BarChart, type Html, type View } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Daemon } from '../../../daemon/daemon.ts';
import { requestMarks, requestsByDay } from '../../../daemon/request-days.ts';
import { createDays, daysShown, type DayOfFiles } from '../../../view/days.ts';
import { dayAndSecond } from '../../../view/words/text.ts';
import type { PageEvent, PageWorld } from '../world.ts';

type Days = ReturnType<typeof createDays>;
const counters = new WeakMap<Daemon, Days>();

/** Shows files, bytes, durations and requests of the last 30 days, each as a chart with its table. */
export async function days({ daemon, now }: PageWorld): Promise<View<PageEvent>> {
  const count = counters.get(daemon) ?? createDays(daemon.ledger);
  counters.set(daemon, count);
  const all = await count(now);
  const { total } = daemon.gate.snapshot();
  const requests = requestsByDay(await requestMarks(daemon.ledger), { at: now, total });
  const sum = (of: (day: DayOfFiles) => number): number => all.reduce((rest, day) => rest + of(day), 0);
  const bars = (of: (day: DayOfFiles) => number): readonly Bar[] =>
    all.map((day) => ({ name: dayAndSecond(day.at).slice(0, 10), count: of(day) }));
  return {
    title: `${daysShown} days`,
    section: '/days',
    changesWith: ['command'],
    aside: html`<span class="muted"
      >${counted(
        sum(({ done }) => done),
        'file',
      )}
      done, ${fileSize(sum(({ bytes }) => bytes))}</span
    >`,
    body: html`<div class="pair">
      ${panel(
        'Files',
        bars(({ done, failed }) => done + failed).map((bar, n) => ({ ...bar, failed: all[n]?.failed ?? 0 })),
        { label: 'Files done, and failed or held, per day', unit: 'file' },
      )}
      ${panel(
        'Bytes',
        bars(({ bytes }) => bytes),
        { label: 'Bytes of files done per day', unit: 'byte', show: fileSize },
      )}
      ${panel(
        'From drop to done: median',
        bars(({ medianMs }) => medianMs ?? 0),
        {
          ...duration,
          label: 'Median time from drop to done',
        },
      )}
      ${panel(
        'From drop to done: 95 % are faster',
        bars(({ p95Ms }) => p95Ms ?? 0),
        {
          ...duration,
          label: 'Time from drop to done, 95th percentile',
        },
      )}
      ${panel(
        'Requests',
        bars(({ at }) => requests.get(at) ?? 0),
        { label: 'Requests per day', unit: 'request' },
      )}
    </div>`,
  };
}

const duration = { unit: 'duration', show: span, isTotalled: false } as const;

function panel(title: string, bars: readonly Bar[], chart: Omit<BarChart, 'per' | 'short'>): Html {
  return html`<section class="card" data-key="${title}">
    <div class="head"><h2>${title}</h2></div>
    <div class="body">${barChart(bars, { ...chart, per: 'Day', short: (name) => name.slice(5) })}</div>
  </section>`;
}
