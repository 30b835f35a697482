import { html } from 'hono/html';
import type { Html } from './elements.ts';
import { table } from './elements.ts';
import { counted, grouped } from './words.ts';

export interface Bar {
  /** Unique name, such as `2026-11-22` or `14:00`. */
  readonly name: string;
  readonly count: number;
  /** How many of `count` failed, shown as the upper part of the bar. */
  readonly failed?: number;
}

export interface BarChart {
  /** For example `Views per day`. */
  readonly label: string;
  /** What each bar covers, such as `Day`. */
  readonly per: string;
  /** What is counted, such as `view`. */
  readonly unit: string;
  /** Formats a value; omitted: as a number. */
  readonly show?: (value: number) => string;
  /** False if the sum of the bars means nothing, as of durations. */
  readonly isTotalled?: boolean;
  /** Shortens a bar's name where there is little room. */
  readonly short?: (name: string) => string;
}

/**
 * Shows counts over time as bars, with the same numbers in a table below. The bars stretch with the page. The words
 * around them are ordinary page text, so they do not stretch.
 */
export function barChart(bars: readonly Bar[], chart: BarChart): Html {
  const { label, per, unit, show = grouped, short = (name) => name } = chart;
  const most = Math.max(...bars.map(({ count }) => count), 0);
  const top = roundedUp(most);
  const hasFailed = bars.some(({ failed }) => failed !== undefined);
  return html`<figure class="chart">
    <div class="plot">
      <div class="scale" aria-hidden="true"><span>${show(top)}</span><span>${show(top / 2)}</span><span>0</span></div>
      <svg
        viewBox="0 0 ${bars.length * STEP} ${HEIGHT}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${summary(bars, chart)}"
      >
        ${[0, 0.5, 1].map((part) => html`<path class="grid" d="M0 ${part * HEIGHT}H${bars.length * STEP}" />`)}
        ${bars.map((each, index) => drawn(each, index, { ...chart, top }))}
      </svg>
    </div>
    <div class="axis" aria-hidden="true">${axisNames(bars).map((name) => html`<span>${short(name)}</span>`)}</div>
    <details>
      <summary>As a table</summary>
      ${table({
        label,
        items: bars.toReversed(),
        keyOf: ({ name }) => name,
        columns: [
          { heading: per, kind: 'main', cell: ({ name }) => name },
          { heading: capital(`${unit}s`), kind: 'number', cell: ({ count }) => show(count) },
          ...(hasFailed
            ? [{ heading: 'Failed', kind: 'number' as const, cell: ({ failed = 0 }: Bar) => grouped(failed) }]
            : []),
        ],
      })}
    </details>
  </figure>`;
}

const STEP = 10;
const GAP = 2;
const HEIGHT = 100;

function drawn(bar: Bar, index: number, { top, unit, show }: BarChart & { top: number }): Html {
  const { name, count, failed = 0 } = bar;
  const heightOf = (part: number) => Math.round((part / top) * HEIGHT * 100) / 100;
  const rectangle = (kind: string, from: number, part: number) =>
    html`<rect
      class="${kind}"
      x="${index * STEP + GAP / 2}"
      y="${HEIGHT - heightOf(from) - heightOf(part)}"
      width="${STEP - GAP}"
      height="${heightOf(part)}"
    >
      <title>${name}: ${show?.(count) ?? counted(count, unit)}${failed > 0 ? `, ${grouped(failed)} failed` : ''}</title>
    </rect>`;
  return html`${rectangle('well', 0, count - failed)} ${failed > 0 ? rectangle('failed', count - failed, failed) : ''}`;
}

/** Rounds up to one digit followed by zeros, so that half of it is a round number too. */
function roundedUp(most: number): number {
  if (most <= 2) return 2;
  const unit = 10 ** Math.floor(Math.log10(most));
  const digit = [1, 2, 4, 6, 8, 10].find((candidate) => candidate * unit >= most) ?? 10;
  return digit * unit;
}

function summary(bars: readonly Bar[], { label, unit, show, isTotalled = true }: BarChart): string {
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  const failed = bars.reduce((sum, bar) => sum + (bar.failed ?? 0), 0);
  const best = bars.reduce<Bar | undefined>((best, bar) => (best && best.count >= bar.count ? best : bar), undefined);
  const peak = best && best.count > 0 ? `, most on ${best.name} with ${(show ?? grouped)(best.count)}` : '';
  const wrong = failed > 0 ? `, ${grouped(failed)} of them failed` : '';
  const sum = isTotalled ? `: ${show?.(total) ?? counted(total, unit)}` : '';
  return `${label} from ${bars[0]?.name} to ${bars.at(-1)?.name}${sum}${wrong}${peak}`;
}

function axisNames(bars: readonly Bar[]): string[] {
  const middle = bars[Math.floor((bars.length - 1) / 2)];
  return [bars[0], middle, bars.at(-1)].flatMap((bar) => (bar ? [bar.name] : []));
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
