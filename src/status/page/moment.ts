import { span, time, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { clockTime } from '../../view/words/clock-time.ts';

/** Renders a time in local time: `14:20`, with the date unless it is today. */
export function moment(atMs: number, nowMs: number): Html {
  return time(atMs, clockTime(atMs, nowMs));
}

/** Example: `14:20 (3 min ago)`, `14:25 (in 2 min)`. */
export function momentAndSpan(atMs: number, nowMs: number): Html {
  const distance = span(Math.max(1000, Math.round(Math.abs(nowMs - atMs) / 1000) * 1000));
  return html`${moment(atMs, nowMs)}
    <span class="muted">(${atMs <= nowMs ? `${distance} ago` : `in ${distance}`})</span>`;
}
