import { html } from 'hono/html';
import { button, emptyState, grouped, named, table, time, unseen, visibleText, type Html } from '@dropcast/pages';
import type { Feed } from '../../store/feeds.ts';
import type { Services } from '../../services.ts';
import type { View } from '../layout.ts';
import { channelNames } from './channels.ts';
import { newFeedCard, removeFeedButton } from './makers.ts';

type FeedParts = Pick<Services, 'records' | 'links'>;

export function feeds(parts: FeedParts): () => View {
  const { records } = parts;
  return () => {
    const list = records.feeds.list();
    return {
      title: 'Feeds',
      section: '/_page/feeds',
      changesWith: ['feed.published', 'video.deleted', 'channel.updated'],
      body: html`${newFeedCard(channelNames(records.channels))}
        <section class="card" id="feeds">
          ${list.length === 0 ? emptyState('The account has no feeds, because it was created without the demo data.') : feedTable(list, parts)}
        </section>`,
    };
  };
}

function feedTable(list: readonly Feed[], parts: FeedParts): Html {
  return table({
    label: 'Feeds',
    items: list,
    keyOf: ({ id }) => id,
    columns: [
      {
        heading: 'Name',
        kind: 'main',
        cell: ({ id, name }) =>
          html`<a class="title" href="${feedPath(id)}">${named(name)}</a><code class="under">${id}</code>`,
      },
      { heading: 'Type', kind: 'minor', cell: ({ type }) => FEED_TYPES[type] },
      {
        heading: 'Channel',
        kind: 'minor',
        cell: ({ channelId }) => named(parts.records.channels.find(channelId)?.name ?? channelId),
      },
      { heading: 'Published', kind: 'minor', cell: publishedWhen },
      { heading: 'Videos', kind: 'minor number', cell: ({ id }) => grouped(parts.records.feeds.count(id)) },
      { heading: 'Publish', cell: publishButton },
      { heading: 'Remove', kind: 'minor', cell: ({ id }) => removeFeedButton(id) },
    ],
  });
}

export const FEED_TYPES: Readonly<Record<Feed['type'], string>> = { mrss: 'MRSS', podcast: 'Podcast', ctv: 'CTV' };

export function feedPath(id: string): string {
  return `/_page/feeds/${encodeURIComponent(id)}`;
}

export function publishButton({ id, name }: Feed): Html {
  return button(`${feedPath(id)}/publish`, html`Publish${unseen(` ${visibleText(name)}`)}`);
}

export function publishedWhen({ lastPublishedAtMs }: Feed): Html | string {
  return lastPublishedAtMs === null ? 'never' : time(lastPublishedAtMs);
}
