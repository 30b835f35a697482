import { html } from 'hono/html';
import type { DailyViews } from '../store/play-statistics.ts';
import { table, type Html } from './elements.ts';
import { counted, grouped } from './words.ts';

/**
 * Views per day as bars, with the same numbers as a table below. The bars stretch with the page; the words around them are text of
 * the page, so that they do not.
 */
export function dailyChart(days: readonly DailyViews[], label: string): Html {
  const most = Math.max(...days.map(({ views }) => views), 0);
  const top = roundedUp(most);
  return html`<figure class="chart">
    <div class="plot">
      <div class="scale" aria-hidden="true">
        <span>${grouped(top)}</span><span>${grouped(top / 2)}</span><span>0</span>
      </div>
      <svg
        viewBox="0 0 ${days.length * STEP} ${HEIGHT}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${summary(days, label)}"
      >
        ${[0, 0.5, 1].map((part) => html`<path class="grid" d="M0 ${part * HEIGHT}H${days.length * STEP}" />`)}
        ${days.map((day, index) => bar(day, index, top))}
      </svg>
    </div>
    <div class="axis" aria-hidden="true">${axisDays(days).map((day) => html`<span>${day.slice(5)}</span>`)}</div>
    <details>
      <summary>As a table</summary>
      ${table({
        label,
        items: days.toReversed(),
        keyOf: ({ date }) => date,
        columns: [
          { heading: 'Day', kind: 'main', cell: ({ date }) => date },
          { heading: 'Views', kind: 'number', cell: ({ views }) => grouped(views) },
        ],
      })}
    </details>
  </figure>`;
}

const STEP = 10;
const GAP = 2;
const HEIGHT = 100;

function bar({ date, views }: DailyViews, index: number, top: number): Html {
  const height = Math.round((views / top) * HEIGHT * 100) / 100;
  return html`<rect x="${index * STEP + GAP / 2}" y="${HEIGHT - height}" width="${STEP - GAP}" height="${height}">
    <title>${date}: ${counted(views, 'view')}</title>
  </rect>`;
}

/** The next even number of one digit and zeros, so that its half is round too. */
function roundedUp(most: number): number {
  if (most <= 2) return 2;
  const unit = 10 ** Math.floor(Math.log10(most));
  const digit = [1, 2, 4, 6, 8, 10].find((candidate) => candidate * unit >= most) ?? 10;
  return digit * unit;
}

function summary(days: readonly DailyViews[], label: string): string {
  const total = days.reduce((sum, { views }) => sum + views, 0);
  const [first, last] = [days[0]?.date, days.at(-1)?.date];
  const best = days.reduce<DailyViews | undefined>(
    (best, day) => (best && best.views >= day.views ? best : day),
    undefined,
  );
  const peak = best && best.views > 0 ? `, most on ${best.date} with ${grouped(best.views)}` : '';
  return `${label} from ${first} to ${last}: ${counted(total, 'view')}${peak}`;
}

function axisDays(days: readonly DailyViews[]): string[] {
  const middle = days[Math.floor((days.length - 1) / 2)];
  return [days[0], middle, days.at(-1)].flatMap((day) => (day ? [day.date] : []));
}
