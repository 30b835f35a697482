import { openDatabase } from './store/database.ts';
import { ChannelStore } from './store/channels.ts';
import { FeedStore } from './store/feeds.ts';
import { KeyStore } from './store/keys.ts';
import { PlayStatistics } from './store/play-statistics.ts';
import { PlayStore } from './store/plays.ts';
import { UploadAddressStore } from './store/upload-addresses.ts';
import { VideoStore } from './store/videos.ts';
import { WebhookStore } from './store/webhooks.ts';

export type Records = ReturnType<typeof openRecords>;

/** All that the service remembers. @param path of the database, `:memory:` for one that ends with the process. @throws DataFolderError */
export function openRecords(path: string) {
  const database = openDatabase(path);
  return {
    database,
    keys: new KeyStore(database),
    channels: new ChannelStore(database),
    feeds: new FeedStore(database),
    videos: new VideoStore(database),
    plays: new PlayStore(database),
    statistics: new PlayStatistics(database),
    webhooks: new WebhookStore(database),
    addresses: new UploadAddressStore(database),
  };
}
