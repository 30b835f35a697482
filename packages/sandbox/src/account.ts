import type { SandboxSettings } from './options.ts';
import type { Records } from './store/records.ts';
import { seededToken } from './seeded-random.ts';
import type { ChannelStore } from './store/channels.ts';
import type { FeedStore } from './store/feeds.ts';
import { eraseTables } from './store/tables.ts';
import type { Services } from './services.ts';
import { replaceEverything } from './store/media-files.ts';

/** Returns the first key of a new account: the configured one, or one derived from the seed. Later keys are random. */
export function firstKey({ apiKey, seed }: Pick<SandboxSettings, 'apiKey' | 'seed'>): string {
  return apiKey ?? `sk_sandbox_${seededToken(seed, ['api key'], 32)}`;
}

/**
 * Gives a new account its first key and, by default, the demo's channels and feeds. Existing records are left
 * unchanged.
 */
export function openAccount(records: Records, settings: SandboxSettings, nowMs: number): void {
  records.keys.add({ value: firstKey(settings), name: 'sandbox', isReadOnly: false }, nowMs);
  if (settings.seedData === 'demo') addDemoData(records.channels, records.feeds, nowMs);
}

/** Adds the channels and feeds of a new account, because the API cannot create any (api-spec section 4). Idempotent. */
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

type ResetParts = Pick<
  Services,
  | 'records'
  | 'settings'
  | 'mediaFiles'
  | 'acceptance'
  | 'requestWindow'
  | 'clock'
  | 'journal'
  | 'faults'
  | 'switchboard'
  | 'events'
>;

/**
 * Restores the state right after the start, with the first key and the demo's channels and feeds, atomically for every
 * client. Uploads in progress are received in full and discarded; imports are aborted.
 */
export async function reset(parts: ResetParts): Promise<void> {
  const { records, settings, acceptance, requestWindow, clock, journal } = parts;
  const { faults, switchboard, events } = parts;
  const isFree = await acceptance.startNewEra(() => {
    const replaced = replaceEverything(parts, new Map(), () => {
      eraseTables(records.database);
      clock.reset(); // may move it forward: nothing that is gone must become due by that
      openAccount(records, settings, settings.now ?? clock.nowMs());
    });
    requestWindow.limit = settings.requestsPerHour;
    faults.reset();
    switchboard.reset();
    journal.clear();
    return replaced;
  });
  events.emit('reset', '');
  await isFree.space;
}
