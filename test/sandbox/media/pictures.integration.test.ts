import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { mediaInfoFactory } from 'mediainfo.js';
import { describe, expect, test } from 'vitest';
import { MediaFiles } from '../../../packages/sandbox/src/store/media-files.ts';
import { Pictures, type Picture } from '../../../packages/sandbox/src/media/pictures.ts';
import { Prober } from '../../../packages/sandbox/src/media/prober.ts';
import type { VideoMedia } from '../../../packages/sandbox/src/store/videos.ts';
import { needs } from '../../support/needs.ts';
import { readSample } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { ffmpeg, standIn, WRITES_PICTURE } from './programs.ts';
import { turned, withCover } from './samples.ts';

/** A folder with one video of these bytes, and the pictures of it. */
async function picturesOf(bytes: Uint8Array, program: string | null) {
  const folder = await scratchDirectory();
  const mediaFiles = new MediaFiles(folder.path);
  await mediaFiles.open(() => true);
  await writeFile(mediaFiles.pathOf('vid'), bytes);
  await using prober = new Prober();
  const probe = await prober.probe(mediaFiles.pathOf('vid'));
  if (!probe.isPlayable) throw new Error(probe.message);
  const media: VideoMedia = { ...probe, sizeBytes: bytes.length, sha256: 'x' };
  const pictures = new Pictures(mediaFiles, program);
  return {
    mediaFiles,
    pictures,
    folder: folder.path,
    thumbnail: (id = 'vid') => pictures.thumbnail(id, media),
    async [Symbol.asyncDispose]() {
      pictures[Symbol.dispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** What an independent reader says of a picture. */
async function look(picture: Picture | undefined) {
  const bytes = await readFile(picture?.path ?? '');
  const reader = await mediaInfoFactory({ format: 'object' });
  const { media } = await reader.analyzeData(bytes.length, (size, offset) => bytes.subarray(offset, offset + size));
  reader.close();
  const image = media?.track.find((track) => track['@type'] === 'Image');
  return image?.['@type'] === 'Image' ? { format: image.Format, width: image.Width, height: image.Height } : undefined;
}

describe('without ffmpeg', () => {
  test('every thumbnail is a placeholder, marked as such: a PNG of 1280x720', async () => {
    await using made = await picturesOf(await readSample('clip.mp4'), null);
    expect(made.pictures.extension).toBe('png');
    const picture = await made.thumbnail();
    expect(picture?.isPlaceholder).toBe(true);
    expect(await look(picture)).toEqual({ format: 'PNG', width: 1280, height: 720 });
  });

  test('no two videos have the same thumbnail, and each has the same in every run, small', async () => {
    await using made = await picturesOf(await readSample('clip.mp4'), null);
    await using again = await picturesOf(await readSample('clip.mp4'), null);
    const ids = Array.from({ length: 60 }, (_, index) => `vid_${index}`);
    const drawn = new Set<string>();
    for (const id of ids) {
      const bytes = await readFile((await made.thumbnail(id))?.path ?? '');
      expect(bytes.length).toBeLessThan(8000);
      drawn.add(bytes.toString('base64'));
      drawn.add((await readFile((await again.thumbnail(id))?.path ?? '')).toString('base64'));
    }
    expect(drawn.size).toBe(ids.length);
    expect(await readdir(join(made.folder, 'artwork'))).toEqual([]);
  });

  test('the drawn picture goes with its video, and at the next start', async () => {
    await using made = await picturesOf(await readSample('clip.mp4'), null);
    await made.thumbnail('vid');
    await made.thumbnail('vid_2');
    expect(await readdir(join(made.folder, 'thumbnails'))).toHaveLength(2);
    await made.mediaFiles.remove('vid');
    expect(await readdir(join(made.folder, 'thumbnails'))).toEqual(['vid_2.drawn.png']);
    await made.mediaFiles.open((id) => id === 'vid_2');
    expect(await readdir(join(made.folder, 'thumbnails'))).toEqual([]);
  });

  test('artwork is a PNG of 1400x1400 in RGB, the same for the same channel and another for another', async () => {
    await using made = await picturesOf(await readSample('clip.mp4'), null);
    const news = await made.pictures.artwork('ch_news');
    expect(await look(news)).toEqual({ format: 'PNG', width: 1400, height: 1400 });
    const bytes = await readFile(news?.path ?? '');
    expect(bytes[25]).toBe(2); // colour type RGB, PNG specification section 11.2.1
    await using other = await picturesOf(await readSample('clip.mp4'), null);
    expect((await readFile((await other.pictures.artwork('ch_news'))?.path ?? '')).equals(bytes)).toBe(true);
    expect((await readFile((await other.pictures.artwork('ch_music'))?.path ?? '')).equals(bytes)).toBe(false);
  });
});

describe('with ffmpeg', needs('ffmpeg'), () => {
  test.each(['clip.mp4', 'camera.mov', 'phone-vertical.mp4', 'lecture.mkv', 'broadcast.m2ts'])(
    'the thumbnail of %s is a frame of it: a JPEG of 1280x720',
    async (sample) => {
      await using made = await picturesOf(await readSample(sample), ffmpeg);
      expect(made.pictures.extension).toBe('jpg');
      const picture = await made.thumbnail();
      expect(picture?.isPlaceholder).toBe(false);
      expect(await look(picture)).toEqual({ format: 'JPEG', width: 1280, height: 720 });
    },
  );

  test('a turned video fills the height only', async () => {
    await using flat = await picturesOf(await readSample('clip.mp4'), ffmpeg);
    await using upright = await picturesOf(turned(await readSample('clip.mp4')), ffmpeg);
    const size = async (made: typeof flat) => (await readFile((await made.thumbnail())?.path ?? '')).length;
    expect(await size(upright)).toBeLessThan((await size(flat)) * 0.7); // two thirds of it are black
  });

  test('sound has its cover, and without one a placeholder', async () => {
    const sound = await readSample('interview.mp3');
    await using bare = await picturesOf(sound, ffmpeg);
    const placeholder = await bare.thumbnail();
    expect(placeholder?.isPlaceholder).toBe(true);
    expect(await look(placeholder)).toEqual({ format: 'JPEG', width: 1280, height: 720 });
    const cover = await readFile((await bare.pictures.artwork('ch_news'))?.path ?? '');
    await using covered = await picturesOf(withCover(sound, cover), ffmpeg);
    const picture = await covered.thumbnail();
    expect(picture?.isPlaceholder).toBe(false);
    expect(await look(picture)).toEqual({ format: 'JPEG', width: 1280, height: 720 });
  });

  test('artwork is a JPEG of 1400x1400', async () => {
    await using made = await picturesOf(await readSample('clip.mp4'), ffmpeg);
    const artwork = await made.pictures.artwork('ch_news');
    expect(await look(artwork)).toEqual({ format: 'JPEG', width: 1400, height: 1400 });
  });

  test('a frame that cannot be decoded gives a placeholder', async () => {
    const bytes = Buffer.from(await readSample('clip.mp4'));
    bytes.fill(0xff, bytes.indexOf('mdat') + 4);
    await using made = await picturesOf(bytes, ffmpeg);
    expect((await made.thumbnail())?.isPlaceholder).toBe(true);
  });
});

describe('with any ffmpeg', () => {
  test('makes a picture once, and concurrent requests wait for it', async () => {
    await using scripts = await scratchDirectory();
    const go = scripts.file('go');
    const fake = await standIn(scripts.path, `while [ ! -e '${go}' ]; do sleep 0.02; done; ${WRITES_PICTURE}`);
    await using made = await picturesOf(await readSample('clip.mp4'), fake);
    const asked = Array.from({ length: 20 }, () => made.thumbnail());
    await writeFile(go, '');
    const pictures = await Promise.all(asked);
    expect(new Set(pictures.map((picture) => basename(picture?.path ?? '')))).toEqual(new Set(['vid.jpg']));
    await made.thumbnail();
    expect(await readFile(join(scripts.path, 'runs'), 'utf8')).toBe('run\n');
  });

  test('does not retry a failure for the same file', async () => {
    await using scripts = await scratchDirectory();
    const fake = await standIn(scripts.path, `case "$*" in *png_pipe*) ${WRITES_PICTURE};; *) exit 1;; esac`);
    await using made = await picturesOf(await readSample('clip.mp4'), fake);
    for (const _ of [1, 2, 3]) expect((await made.thumbnail())?.isPlaceholder).toBe(true);
    const attempts = ['a tenth in', 'the beginning', 'a placeholder'];
    expect((await readFile(join(scripts.path, 'runs'), 'utf8')).trim().split('\n')).toHaveLength(attempts.length);
  });

  test('an ffmpeg that writes nothing leaves no picture behind', async () => {
    await using scripts = await scratchDirectory();
    const fake = await standIn(scripts.path, 'exit 0');
    await using made = await picturesOf(await readSample('clip.mp4'), fake);
    expect(await made.thumbnail()).toBeUndefined();
    expect(await made.pictures.artwork('ch_news')).toBeUndefined();
    for (const name of ['incoming', 'thumbnails', 'artwork'])
      expect(await readdir(join(made.folder, name))).toEqual([]);
  });

  test('close ends it', async () => {
    await using scripts = await scratchDirectory();
    const fake = await standIn(scripts.path, 'exec sleep 60');
    await using made = await picturesOf(await readSample('clip.mp4'), fake);
    const picture = made.thumbnail();
    await expect.poll(() => readdir(scripts.path), { timeout: 25_000 }).toContain('runs');
    made.pictures[Symbol.dispose]();
    expect(await picture).toBeUndefined();
  });

  test('runs ffmpeg without prompts, on files only, with a given format, and no path that could be an option or an address', async () => {
    await using scripts = await scratchDirectory();
    const fake = await standIn(
      scripts.path,
      `[ -f ${scripts.path}/arguments ] || printf '%s\\n' "$@" > ${scripts.path}/arguments; exit 1`,
    );
    await using made = await picturesOf(await readSample('clip.mp4'), fake);
    await made.thumbnail();
    const given = (await readFile(join(scripts.path, 'arguments'), 'utf8')).trim().split('\n');
    expect(given).toContain('-nostdin');
    expect(given[given.indexOf('-f') + 1]).toBe('mov');
    expect(given[given.indexOf('-protocol_whitelist') + 1]).toBe('file');
    expect(given[given.indexOf('-i') + 1]).toMatch(/^file:\//);
    expect(given.at(-1)).toMatch(/^file:\//);
  });
});
