import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Clock } from '../../../packages/sandbox/src/clock.ts';
import { Events } from '../../../packages/sandbox/src/events.ts';
import { MediaFiles } from '../../../packages/sandbox/src/store/media-files.ts';
import { Lifecycle } from '../../../packages/sandbox/src/lifecycle.ts';
import { ChannelStore } from '../../../packages/sandbox/src/store/channels.ts';
import { openDatabase } from '../../../packages/sandbox/src/store/database.ts';
import { ProcessingStore } from '../../../packages/sandbox/src/store/processing.ts';
import { Acceptance } from '../../../packages/sandbox/src/uploads/acceptance.ts';
import { VideoStore } from '../../../packages/sandbox/src/store/videos.ts';
import { playable } from '../playable.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { Probe } from '../../../packages/sandbox/src/media/media-report.ts';

/** A pending video `vid` and a body of it that has arrived. */
async function arrived(folder: string, keep: (videos: VideoStore) => void = () => undefined) {
  const database = openDatabase(':memory:');
  new ChannelStore(database).add({ id: 'ch', name: 'C', slug: 'c', createdAtMs: 0 });
  const videos = new VideoStore(database);
  videos.create(
    { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 0 },
    () => 'vid',
  );
  class SlowMediaFiles extends MediaFiles {
    override async keep(arrivedPath: string, videoId: string): Promise<void> {
      await super.keep(arrivedPath, videoId);
      keep(videos);
    }
  }
  const mediaFiles = new SlowMediaFiles(folder);
  await mediaFiles.open(() => true);
  const path = join(mediaFiles.incoming, 'body');
  await writeFile(path, 'x');
  const world = { clock: new Clock(() => 0), events: new Events(), fateOf: () => undefined };
  const processing = new ProcessingStore(database);
  const lifecycle = new Lifecycle({ ...world, processing, seed: 1, processingMs: { min: 0, max: 0 } });
  const { events } = world;
  const acceptanceWith = (probe: () => Promise<Probe>) =>
    new Acceptance({ videos, mediaFiles, lifecycle, events, probe });
  return { videos, processing, acceptanceWith, file: { path, sizeBytes: 1, sha256: 'x' } };
}

const filesIn = async (folder: string) => (await readdir(folder, { recursive: true })).toSorted();
const EMPTY = ['artwork', 'incoming', 'media', 'thumbnails'];

test('a video deleted while its file moves leaves no file behind', async () => {
  await using folder = await scratchDirectory();
  const { acceptanceWith, file } = await arrived(folder.path, (videos) => void videos.remove('vid'));
  expect(await acceptanceWith(async () => playable).accept('vid', file)).toBe('video deleted');
  expect(await filesIn(folder.path)).toEqual(EMPTY);
});

test('does not keep a file whose record cannot be written: it would take the missing space', async () => {
  await using folder = await scratchDirectory();
  const { videos, processing, acceptanceWith, file } = await arrived(folder.path);
  vi.spyOn(processing, 'startProcessing').mockImplementation(() => {
    throw new Error('database or disk is full');
  });
  await expect(acceptanceWith(async () => playable).accept('vid', file)).rejects.toThrow('is full');
  expect(await filesIn(folder.path)).toEqual(EMPTY);
  expect(videos.find('vid')?.status).toBe('pending');
});

test('does not keep a file that cannot be probed', async () => {
  await using folder = await scratchDirectory();
  const { acceptanceWith, file } = await arrived(folder.path);
  const accepted = acceptanceWith(() => Promise.reject(new Error('no parser'))).accept('vid', file);
  await expect(accepted).rejects.toThrow('no parser');
  expect(await filesIn(folder.path)).toEqual(EMPTY);
});
