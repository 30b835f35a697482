import type { Channel, Feed, Video } from '../../packages/sandbox/src/contract/types.gen.ts';

/** What is known of a video before it has addresses. */
export type ModelVideo = Omit<Video, 'created_at' | 'thumbnail_url' | 'embed_url'>;

/** The document changes with a publish, and when a video in it is deleted. */
type ModelFeed = Pick<Feed, 'channel_id' | 'last_published_at'> & { items: string[]; changedAtMs: number | null };

/** What an account of the service should look like, as plainly as it can be said. */
export class LibraryModel {
  /** All that there ever were, for those who ask for deleted ones too. */
  readonly everCreated: { readonly id: string; readonly uploadPath: string }[] = [];
  /** Oldest first. */
  readonly videos = new Map<string, ModelVideo>();
  readonly channels = new Map<string, Pick<Channel, 'name' | 'description' | 'default_player_settings'>>();
  readonly feeds = new Map<string, ModelFeed>();
  /** Of the service, ms since 1970: each step happens a second after the one before. */
  nowMs = Date.UTC(2026, 0, 1);

  constructor(channels: readonly Pick<Channel, 'id' | 'name'>[], feeds: readonly Feed[]) {
    for (const { id, name } of channels)
      this.channels.set(id, { name, description: null, default_player_settings: {} });
    for (const { id, channel_id } of feeds)
      this.feeds.set(id, { channel_id, last_published_at: null, changedAtMs: null, items: [] });
  }

  add(video: Pick<ModelVideo, 'id' | 'title' | 'channel_id'> & Partial<ModelVideo>, uploadPath: string): void {
    this.everCreated.push({ id: video.id, uploadPath });
    this.videos.set(video.id, {
      description: null,
      tags: [],
      source_url: null,
      status: 'pending',
      duration: null,
      ...video,
    });
  }

  delete(id: string): boolean {
    for (const feed of this.feeds.values()) {
      if (!feed.items.includes(id)) continue;
      feed.items = feed.items.filter((item) => item !== id);
      feed.changedAtMs = this.nowMs;
    }
    return this.videos.delete(id);
  }

  /** Newest first. */
  list({ channelId, status }: { channelId?: string | undefined; status?: string | undefined }): string[] {
    return [...this.videos.values()]
      .filter((video) => channelId === undefined || video.channel_id === channelId)
      .filter((video) => status === undefined || video.status === status)
      .map((video) => video.id)
      .toReversed();
  }

  publish(feedId: string, at: string): string[] {
    const feed = this.feeds.get(feedId);
    if (!feed) throw new Error(`no feed ${feedId}`);
    feed.last_published_at = at;
    feed.changedAtMs = this.nowMs;
    feed.items = this.list({ channelId: feed.channel_id, status: 'ready' });
    return feed.items;
  }
}
