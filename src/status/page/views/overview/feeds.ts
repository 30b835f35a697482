import { badge, counted, named, table, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { FeedView } from '../../../../daemon/overview/overview-view.ts';
import { moment, momentAndSpan } from '../../moment.ts';

/** When each feed was published, and what waits for it. */
export function feedsPanel(feeds: readonly FeedView[], now: number): Html | '' {
  if (feeds.length === 0) return '';
  return html`<section class="card" data-key="feeds">
    <div class="head"><h2>Feeds</h2></div>
    ${table({
      label: 'Feeds',
      items: feeds,
      keyOf: ({ feed }) => feed,
      columns: [
        { heading: 'Feed', kind: 'main', cell: ({ feed }) => named(feed) },
        {
          heading: 'Published',
          cell: ({ published_at: at }) =>
            at === null ? html`<span class="muted">not yet</span>` : momentAndSpan(at, now),
        },
        { heading: 'Next', cell: (feed) => next(feed, now) },
      ],
    })}
  </section>`;
}

function next({ waiting, next_at: at, failure }: FeedView, now: number): Html | string {
  if (failure !== null)
    return html`${badge('bad', 'failed')}
    ${visibleText(failure)}${at === null ? '' : html`; again at ${moment(at, now)}`}`;
  if (waiting === 0) return '';
  const latest = at === null || at < now ? '' : html`, by ${moment(at, now)}`;
  return html`${counted(waiting, 'newer file')}${latest}`;
}
