import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MediaFiles, type NextEra } from '../../../packages/sandbox/src/store/media-files.ts';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';

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

describe('a process that ends while all files are replaced', () => {
  async function atReplacing(folder: ScratchDirectory): Promise<{ files: MediaFiles; next: NextEra }> {
    const files = new MediaFiles(folder.path);
    await files.open(() => true);
    for (const id of ['vid_kept', 'vid_changed', 'vid_gone']) await writeFile(files.pathOf(id), 'old');
    await writeFile(files.thumbnailPath('vid_changed', 'jpg'), 'old');
    const arrived = join(files.incoming, 'arrived');
    await writeFile(arrived, 'new');
    const paths = new Map([
      ['vid_kept', files.pathOf('vid_kept')],
      ['vid_changed', arrived],
    ]);
    return { files, next: files.prepare(paths) };
  }

  async function contentsAfterStart(folder: ScratchDirectory, era: number): Promise<Record<string, string>> {
    const files = new MediaFiles(folder.path, era);
    await files.open(() => true);
    const media = dirname(files.pathOf('vid'));
    const contents = (await readdir(media)).map(async (id) => [id, await readFile(join(media, id), 'utf8')] as const);
    expect(await readdir(dirname(files.thumbnailPath('vid', 'jpg')))).toEqual(era === 0 ? ['vid_changed.jpg'] : []);
    return Object.fromEntries(await Promise.all(contents));
  }

  const before = { vid_kept: 'old', vid_changed: 'old', vid_gone: 'old' };
  const after = { vid_kept: 'old', vid_changed: 'new' };

  test('before the records have changed, has the old files', async () => {
    await using folder = await scratchDirectory();
    await atReplacing(folder);
    expect(await contentsAfterStart(folder, 0)).toEqual(before);
    expect((await readdir(folder.path)).filter((name) => name.startsWith('era-'))).toEqual([]);
  });

  test('after the records have changed, has the new files', async () => {
    await using folder = await scratchDirectory();
    const { next } = await atReplacing(folder);
    expect(await contentsAfterStart(folder, next.number)).toEqual(after);
    expect((await readdir(folder.path)).toSorted()).toEqual(['era-1', 'incoming']);
  });

  test('and one that continues has the new files, too, and the next start', async () => {
    await using folder = await scratchDirectory();
    const { files, next } = await atReplacing(folder);
    await next.begin();
    expect(await readFile(files.pathOf('vid_changed'), 'utf8')).toBe('new');
    await files.prepare(new Map([['vid_kept', files.pathOf('vid_kept')]])).begin();
    expect(await contentsAfterStart(folder, files.era)).toEqual({ vid_kept: 'old' });
  });

  test('and one whose records do not take them has the old files', async () => {
    await using folder = await scratchDirectory();
    const { files, next } = await atReplacing(folder);
    next.discard();
    expect(await readFile(files.pathOf('vid_changed'), 'utf8')).toBe('old');
    expect(await contentsAfterStart(folder, 0)).toEqual(before);
  });
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
