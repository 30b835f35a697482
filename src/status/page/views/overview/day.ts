import { barChart, counted, fileSize } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { clockTime } from '../../../../view/words/clock-time.ts';
import type { DayView } from '../../../../view/picture/picture.ts';

/** What ended in the last 24 hours. */
export function dayPanel({ slots, done, failed, bytes }: DayView, now: number): Html | '' {
  if (done + failed === 0) return '';
  const bars = slots.map((slot) => ({
    name: clockTime(slot.at, now),
    count: slot.done + slot.failed,
    failed: slot.failed,
  }));
  return html`<section class="card" data-key="day">
    <div class="head">
      <h2>Last 24 hours</h2>
      <span class="muted"
        >${counted(done, 'file')} live,
        ${fileSize(bytes)}${failed === 0 ? '' : `; ${counted(failed, 'file')} failed or held`}</span
      >
    </div>
    <div class="body">
      ${barChart(bars, { label: 'Files per half hour', per: 'Half hour', unit: 'file', short: (name) => name.slice(-5) })}
    </div>
  </section>`;
}
