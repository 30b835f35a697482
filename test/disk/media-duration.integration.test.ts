import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { durationOf } from '@dropcast/media';
import { describe, expect, test } from 'vitest';
import { mediaDuration } from '../../src/disk/local-files.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const samples = join(import.meta.dirname, '../media');

/** Counts what is read of some bytes. */
function reader(bytes: Buffer) {
  const read = { calls: 0, bytes: 0 };
  const readAt = async (position: number, length: number): Promise<Buffer> => {
    read.calls += 1;
    read.bytes += length;
    const from = Math.min(position, bytes.length);
    return bytes.subarray(from, Math.min(from + length, bytes.length));
  };
  return { read, readAt };
}

const durationIn = (bytes: Buffer) => durationOf(reader(bytes).readAt, bytes.length);

describe('the duration of a file', () => {
  test.each<[string, number | null]>([
    ['clip.mp4', 4],
    ['camera.mov', 3],
    ['phone-vertical.mp4', 2],
    ['lecture.mkv', 6],
    // Neither says it in one place.
    ['interview.mp3', null],
    ['broadcast.m2ts', null],
    ['README.md', null],
    ['none.mp4', null],
    ['../media', null],
  ])('is what its container says: %s, %s s', async (name, seconds) => {
    const found = await mediaDuration(samples, name);
    if (seconds === null) expect(found).toBeNull();
    else expect(Math.abs((found ?? 0) - seconds)).toBeLessThan(0.1);
  });

  test('is not read where a directory on the way is a link out of the folder', async () => {
    await using scratch = await scratchDirectory();
    await symlink(samples, scratch.file('out'));
    expect(await mediaDuration(scratch.path, 'out/clip.mp4')).toBeNull();
  });

  test.each([
    ['wav', ['-c:a', 'pcm_s16le']],
    ['flac', ['-c:a', 'flac']],
    ['webm', ['-c:a', 'libopus']],
    ['m4a', ['-c:a', 'aac']],
    ['w64.wav', ['-c:a', 'pcm_s16le', '-rf64', 'always', '-f', 'wav']],
  ])('is read from %s as ffmpeg makes it', needs('ffmpeg'), async (ext, codec) => {
    await using scratch = await scratchDirectory();
    const path = scratch.file(`tone.${ext}`);
    await promisify(execFile)('ffmpeg', [
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      'sine=frequency=300:duration=7',
      ...codec,
      path,
    ]);
    expect(Math.abs(((await mediaDuration(scratch.path, `tone.${ext}`)) ?? 0) - 7)).toBeLessThan(0.1);
  });

  test('is not known where a recorder has not written it yet', async () => {
    const wave = Buffer.alloc(64);
    wave.write('RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0', 'latin1');
    wave.writeUInt32LE(48_000, 28);
    wave.write('data', 36, 'latin1');
    expect(await durationIn(wave)).toBeNull();
    wave.writeUInt32LE(0xffff_ffff, 40);
    expect(await durationIn(wave)).toBeNull();
    wave.writeUInt32LE(96_000, 40);
    expect(await durationIn(wave)).toBeNull();
    const whole = Buffer.concat([wave.subarray(0, 44), Buffer.alloc(96_000)]);
    whole.writeUInt32LE(whole.length - 8, 4);
    expect(await durationIn(whole)).toBe(2);
  });
});

test('hostile bytes are read in a few pieces, and never break anything', async () => {
  const seeds = ['clip.mp4', 'camera.mov', 'lecture.mkv'].map((name) => readFileSync(join(samples, name)));
  const headers = ['RIFF\0\0\0\0WAVE', 'RF64\0\0\0\0WAVE', 'fLaC', '\0\0\0\x08ftyp', '\x1a\x45\xdf\xa3'];
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc
          .tuple(fc.constantFrom(...headers), fc.uint8Array({ maxLength: 300 }))
          .map(([head, rest]) => Buffer.concat([Buffer.from(head, 'latin1'), rest])),
        fc
          .tuple(
            fc.constantFrom(...seeds),
            fc.array(fc.tuple(fc.nat({ max: 4_000 }), fc.nat({ max: 255 })), { maxLength: 20 }),
          )
          .map(([seed, changes]) => {
            const bytes = Buffer.from(seed);
            for (const [at, value] of changes) bytes[at] = value;
            return bytes;
          }),
      ),
      async (bytes) => {
        const { read, readAt } = reader(bytes);
        const seconds = await durationOf(readAt, bytes.length);
        expect(seconds === null || (seconds > 0 && Number.isFinite(seconds))).toBe(true);
        expect(read.calls).toBeLessThan(5_000);
        expect(read.bytes).toBeLessThan(100_000);
      },
    ),
    { numRuns: 500 },
  );
});
