import { grouped } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { BudgetView } from '../../../../view/picture/picture.ts';
import { moment } from '../../moment.ts';

/** Requests of the last hour: what is used, by whom, and when there is room again. */
export function budgetPanel({ used, limit, others, blocked_until: blocked, frees }: BudgetView, now: number): Html {
  const all = Math.min(limit, used + others);
  const width = (part: number): string => String(Math.round((1_000 * Math.min(part, limit)) / Math.max(1, limit)) / 10);
  const [first] = frees;
  return html`<section class="card" data-key="budget">
    <div class="head"><h2>API requests</h2></div>
    <div class="body">
      <svg
        class="gauge"
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        role="img"
        aria-label="${grouped(all)} of ${grouped(limit)} requests of an hour are used"
      >
        <rect class="rest" width="100" height="8" />
        <rect class="others" width="${width(all)}" height="8" />
        <rect class="own" width="${width(used)}" height="8" />
      </svg>
      <p>
        <strong>${grouped(used)}</strong> of ${grouped(limit)} used in the last
        hour${others === 0 ? '' : `; others use about ${grouped(others)}`}.
      </p>
      ${blocked === null ? '' : html`<p class="warn">Rate limited until ${moment(blocked, now)}.</p>`}
      ${first === undefined || used === 0 ? '' : html`<p class="muted">${grouped(first.requests)} free again at ${moment(first.at, now)}.</p>`}
    </div>
  </section>`;
}
