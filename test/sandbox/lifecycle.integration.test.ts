import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Clock } from '../../src/sandbox/clock.ts';
import { Events } from '../../src/sandbox/events.ts';
import { Library } from '../../src/sandbox/library.ts';
import { Lifecycle } from '../../src/sandbox/lifecycle.ts';
import { ChannelStore } from '../../src/sandbox/store/channels.ts';
import { openDatabase } from '../../src/sandbox/store/database.ts';
import { VideoStore } from '../../src/sandbox/store/videos.ts';
import { playable } from './playable.ts';
import { temporaryFolder } from './temporary-folder.ts';

test('a video that is deleted while its file moves leaves no file behind', async () => {
  await using folder = await temporaryFolder();
  const database = openDatabase(':memory:');
  new ChannelStore(database).add({ id: 'ch', name: 'C', slug: 'c', createdAtMs: 0 });
  const videos = new VideoStore(database);
  videos.create(
    { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 0 },
    () => 'vid',
  );
  class SlowLibrary extends Library {
    override async keep(arrivedPath: string, videoId: string): Promise<void> {
      await super.keep(arrivedPath, videoId);
      videos.remove(videoId);
    }
  }
  const library = new SlowLibrary(folder.path);
  await library.open(() => true);
  const path = join(library.incoming, 'body');
  await writeFile(path, 'x');
  const world = { clock: new Clock(() => 0), events: new Events(), fateOf: () => undefined };
  const probe = async () => playable;
  const lifecycle = new Lifecycle({ ...world, videos, library, probe, seed: 1, processingMs: { min: 0, max: 0 } });
  expect(await lifecycle.accept('vid', { path, sizeBytes: 1, sha256: 'x' })).toBe('video deleted');
  expect(existsSync(library.pathOf('vid'))).toBe(false);
});
