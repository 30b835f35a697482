import { span, time } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Span } from '../../../view/files/spans.ts';
import { clockTime } from '../../../view/words/clock-time.ts';

/** One bar per step, all on the scale of the whole: where the time went. The words beside each say the same. */
export function spanBars(spans: readonly Span[], now: number): Html | '' {
  const [first] = spans;
  if (first === undefined) return '';
  const from = first.started_at;
  const to = Math.max(...spans.map((one) => one.started_at + one.duration_ms), from + 1);
  const scale = (atMs: number): string => ((100 * (atMs - from)) / (to - from)).toFixed(2);
  return html`<section class="card" data-key="steps">
    <div class="head"><h2>Steps</h2></div>
    <ol class="spans">
      ${spans.map(
        ({ step, started_at: startedAt, ended_at: endedAt, duration_ms: durationMs }) =>
          html`<li class="${endedAt === null ? 'now' : 'done'}">
            <strong>${step}</strong>
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect
                x="${scale(startedAt)}"
                y="1"
                height="6"
                width="${Math.max(0.6, Number(scale(startedAt + durationMs)) - Number(scale(startedAt)))}"
              />
            </svg>
            <span>${span(durationMs)}${endedAt === null ? ' so far' : ''}</span>
            <span class="muted">from ${time(startedAt, clockTime(startedAt, now))}</span>
          </li>`,
      )}
    </ol>
  </section>`;
}
