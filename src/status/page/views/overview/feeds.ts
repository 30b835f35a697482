import { badge, counted, named, outside, table, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Daemon } from '../../../../daemon/daemon.ts';
import type { FeedView } from '../../../../view/picture/picture.ts';
import { filesAddress } from '../../files/address.ts';
import { moment, momentAndSpan } from '../../moment.ts';

/** Shows when each feed was published, and how many files are waiting for it. */
export function feedsPanel(
  feeds: readonly FeedView[],
  { now, links }: { readonly now: number; readonly links: Pick<Daemon['links'], 'find'> },
): Html | '' {
  if (feeds.length === 0) return '';
  return html`<section class="card" data-key="feeds">
    <div class="head"><h2>Feeds</h2></div>
    ${table({
      label: 'Feeds',
      items: feeds,
      keyOf: ({ feed }) => feed,
      columns: [
        { heading: 'Feed', kind: 'main', cell: ({ feed }) => feedCell(feed, links) },
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

function feedCell(feed: string, links: Pick<Daemon['links'], 'find'>): Html {
  const url = links.find('feed', feed);
  return html`<a href="${filesAddress({ feed })}">${named(feed)}</a>
    ${url === null ? '' : html`<span class="muted">·</span> ${outside(url, 'open the feed')}`}`;
}

function next({ waiting, next_at: at, failure }: FeedView, now: number): Html | string {
  if (failure !== null)
    return html`${badge('bad', 'failed')}
    ${visibleText(failure)}${at === null ? '' : html`; again at ${moment(at, now)}`}`;
  if (waiting === 0) return '';
  const latest = at === null || at < now ? '' : html`, by ${moment(at, now)}`;
  return html`${counted(waiting, 'newer file')}${latest}`;
}
