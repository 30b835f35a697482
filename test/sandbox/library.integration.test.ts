import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Library } from '../../packages/sandbox/src/library.ts';
import { temporaryFolder } from './temporary-folder.ts';

test('opening removes what no record knows, thumbnails too, and keeps the rest', async () => {
  await using folder = await temporaryFolder();
  const library = new Library(folder.path);
  await library.open(() => true);
  for (const id of ['vid_known', 'vid_gone'])
    for (const path of [library.pathOf(id), library.thumbnailPath(id, 'jpg'), library.thumbnailPath(id, 'png')])
      await writeFile(path, 'x');
  await writeFile(join(library.incoming, 'half'), 'x');
  await mkdir(join(folder.path, 'media', 'lost+found'));
  await library.open((id) => id === 'vid_known');
  const left = async (name: string) => (await readdir(join(folder.path, name))).toSorted();
  expect(await left('media')).toEqual(['vid_known']);
  expect(await left('thumbnails')).toEqual(['vid_known.jpg', 'vid_known.png']);
  expect(await left('incoming')).toEqual([]);
});

test('removing a video removes all there is of it, and is no error when there is nothing', async () => {
  await using folder = await temporaryFolder();
  const library = new Library(folder.path);
  await library.open(() => true);
  for (const path of [library.pathOf('vid'), library.thumbnailPath('vid', 'jpg')]) await writeFile(path, 'x');
  await library.remove('vid');
  await library.remove('vid');
  for (const name of ['media', 'thumbnails']) expect(await readdir(join(folder.path, name))).toEqual([]);
});

test.each(['', '..', '../records', 'a/b', 'a\0b', '.hidden', 'vid.mp4', 'x'.repeat(101)])(
  'only ids of the service become file names: %j does not',
  (id) => {
    const library = new Library('/nowhere');
    expect(() => library.pathOf(id)).toThrow(TypeError);
    expect(() => library.thumbnailPath(id, 'jpg')).toThrow(TypeError);
    expect(() => library.artworkPath(id, 'png')).toThrow(TypeError);
  },
);
