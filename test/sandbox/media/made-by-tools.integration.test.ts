import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { Prober } from '../../../packages/sandbox/src/media/prober.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const run = promisify(execFile);
const prober = new Prober();
afterAll(() => prober[Symbol.asyncDispose]());

/** Probes what a command line writes to `$FILE`. @param cut number of bytes to remove from its end */
async function probeMade(command: string, cut = 0) {
  await using folder = await scratchDirectory();
  const file = folder.file('made');
  await run('sh', ['-c', command], { env: { ...process.env, FILE: file } });
  if (cut > 0) await writeFile(file, (await readFile(file)).subarray(0, -cut));
  return await prober.probe(file); // the folder is removed at the end of the block
}

const tone = 'ffmpeg -v error -f lavfi -i sine=440:d=3.5';

test('SoX: an AIFF is ready, with its duration unless it was written through a pipe', needs('sox'), async () => {
  const pcm = { isPlayable: true, container: 'aiff', audioCodec: 'PCM' };
  const effect = 'synth 3 sine 440';
  expect(await probeMade(`sox -n -t aiff "$FILE" ${effect}`)).toMatchObject({ ...pcm, durationS: 3 });
  expect(await probeMade(`sox -n -t aiff - ${effect} | cat > "$FILE"`)).toMatchObject({ ...pcm, durationS: null });
});

test.each([
  ['.aac, of which nothing states the duration', `${tone} -c:a aac -f adts "$FILE"`, 'aac', 3.5],
  [
    '.aac behind a tag',
    `printf 'ID3\\4\\0\\0\\0\\0\\1\\0%128s' "" > "$FILE"; ${tone} -f adts - >> "$FILE"`,
    'aac',
    3.5,
  ],
  ['.aac in more than one piece', `${tone} -af apad=whole_dur=60 -b:a 256k -f adts "$FILE"`, 'aac', 60],
  ['TS with LATM', `${tone} -c:a aac -f mpegts -mpegts_flags latm "$FILE"`, 'mpeg-ts', 3.5],
])('ffmpeg: %s is ready, and its duration known', needs('ffmpeg'), async (_, command, container, seconds) => {
  const probe = await probeMade(command);
  expect(probe).toMatchObject({ isPlayable: true, container, audioCodec: 'AAC' });
  expect(probe.isPlayable && Math.abs((probe.durationS ?? 0) - seconds)).toBeLessThan(0.2);
});

test.each([
  ['an MP3 without the end of its last frame is ready', `${tone} -f mp3 "$FILE"`, 100, true],
  ['a cut .aac is ready', `${tone} -f adts "$FILE"`, 100, true],
  ['a cut FLAC has failed', `${tone} -f flac "$FILE"`, 100, false],
])('ffmpeg: %s', needs('ffmpeg'), async (_, command, cut, isPlayable) => {
  expect(await probeMade(command)).toMatchObject({ isPlayable: true });
  expect(await probeMade(command, cut)).toMatchObject({ isPlayable });
});
