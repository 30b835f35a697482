import { dirname } from 'node:path';
import { openDatabase } from './database.ts';
import { ChannelStore } from './channels.ts';
import { FeedStore } from './feeds.ts';
import { KeyStore } from './keys.ts';
import { PlayStatistics } from './play-statistics.ts';
import { PlayStore } from './plays.ts';
import { ProcessingStore } from './processing.ts';
import { UploadAddressStore } from './upload-addresses.ts';
import { VideoStore } from './videos.ts';
import { WebhookStore } from './webhooks.ts';
import { requireNothingOfOthers } from '../data-folder.ts';

export type Records = ReturnType<typeof openRecords>;

/**
 * Opens all records of the service. @param path of the database; `:memory:` for records that are discarded when the
 * process exits @throws DataFolderError
 */
export function openRecords(path: string) {
  const database = openDatabase(path, () => requireNothingOfOthers(dirname(path)));
  return {
    database,
    keys: new KeyStore(database),
    channels: new ChannelStore(database),
    feeds: new FeedStore(database),
    videos: new VideoStore(database),
    processing: new ProcessingStore(database),
    plays: new PlayStore(database),
    statistics: new PlayStatistics(database),
    webhooks: new WebhookStore(database),
    addresses: new UploadAddressStore(database),
  };
}
