import type { ChannelStore } from './store/channels.ts';
import type { FeedStore } from './store/feeds.ts';

/** The channels and feeds of a new account; the API cannot create any (api-spec section 4). Does nothing a second time. */
export function addDemoData(channels: ChannelStore, feeds: FeedStore, nowMs: number): void {
  if (channels.list().length > 0) return;
  channels.add({ id: 'ch_main', name: 'Main', slug: 'main', createdAtMs: nowMs });
  channels.add({ id: 'ch_news', name: 'News', slug: 'news', createdAtMs: nowMs });
  channels.add({ id: 'ch_podcast', name: 'Podcast', slug: 'podcast', createdAtMs: nowMs });
  feeds.add({ id: 'feed_news', name: 'News', type: 'mrss', channelId: 'ch_news' });
  feeds.add({ id: 'feed_main', name: 'Main', type: 'mrss', channelId: 'ch_main' });
  feeds.add({ id: 'feed_podcast', name: 'Podcast', type: 'podcast', channelId: 'ch_podcast' });
  feeds.add({ id: 'feed_tv', name: 'TV', type: 'ctv', channelId: 'ch_main' });
}
