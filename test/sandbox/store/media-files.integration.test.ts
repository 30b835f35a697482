import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MediaFiles } from '../../../packages/sandbox/src/store/media-files.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

test('opening removes files without a record, thumbnails too, and keeps the rest', async () => {
  await using folder = await scratchDirectory();
  const mediaFiles = new MediaFiles(folder.path);
  await mediaFiles.open(() => true);
  for (const id of ['vid_known', 'vid_gone'])
    for (const path of [
      mediaFiles.pathOf(id),
      mediaFiles.thumbnailPath(id, 'jpg'),
      mediaFiles.thumbnailPath(id, 'png'),
    ])
      await writeFile(path, 'x');
  await writeFile(join(mediaFiles.incoming, 'half'), 'x');
  await mkdir(join(folder.path, 'media', 'lost+found'));
  await mediaFiles.open((id) => id === 'vid_known');
  const left = async (name: string) => (await readdir(join(folder.path, name))).toSorted();
  expect(await left('media')).toEqual(['vid_known']);
  expect(await left('thumbnails')).toEqual(['vid_known.jpg', 'vid_known.png']);
  expect(await left('incoming')).toEqual([]);
});

test('removing a video removes all its files; without files it does nothing', async () => {
  await using folder = await scratchDirectory();
  const mediaFiles = new MediaFiles(folder.path);
  await mediaFiles.open(() => true);
  for (const path of [mediaFiles.pathOf('vid'), mediaFiles.thumbnailPath('vid', 'jpg')]) await writeFile(path, 'x');
  await mediaFiles.remove('vid');
  await mediaFiles.remove('vid');
  for (const name of ['media', 'thumbnails']) expect(await readdir(join(folder.path, name))).toEqual([]);
});

test.each(['', '..', '../records', 'a/b', 'a\0b', '.hidden', 'vid.mp4', 'x'.repeat(101)])(
  'only ids of the service become file names: %j does not',
  (id) => {
    const mediaFiles = new MediaFiles('/nowhere');
    expect(() => mediaFiles.pathOf(id)).toThrow(TypeError);
    expect(() => mediaFiles.thumbnailPath(id, 'jpg')).toThrow(TypeError);
    expect(() => mediaFiles.artworkPath(id, 'png')).toThrow(TypeError);
  },
);
