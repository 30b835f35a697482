import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { probe } from '../../../src/sandbox/media/probe.ts';
import type { Probe } from '../../../src/sandbox/media/verdict.ts';
import { readSample } from '../running-sandbox.ts';
import { temporaryFolder } from '../temporary-folder.ts';

async function probeBytes(bytes: Uint8Array): Promise<Probe> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'file');
  await writeFile(path, bytes);
  return await probe(path); // the folder goes at the end of the block
}

describe('probe', () => {
  test.each([
    ['clip.mp4', 'mp4', 4],
    ['camera.mov', 'mp4', 3],
    ['phone-vertical.mp4', 'mp4', 2],
    ['lecture.mkv', 'matroska', 6.008],
    ['interview.mp3', 'mp3', 5],
    ['broadcast.m2ts', 'mpeg-ts', 3],
  ])('%s is whole: %s of %d s', async (sample, container, seconds) => {
    const verdict = await probe(new URL(`../../media/${sample}`, import.meta.url).pathname);
    expect(verdict).toMatchObject({ isPlayable: true, container });
    expect(verdict.isPlayable && Math.abs((verdict.durationS ?? 0) - seconds)).toBeLessThan(0.11);
  });

  test.each(['clip.mp4', 'camera.mov', 'lecture.mkv'])('%s cut anywhere is never taken for whole', async (sample) => {
    const bytes = await readSample(sample);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), async (length) => {
        expect((await probeBytes(bytes.subarray(0, length))).isPlayable).toBe(false);
      }),
      { numRuns: 60, examples: [[bytes.length - 1], [8], [4], [0]] },
    );
  });

  test('a transport stream cut inside a packet is truncated', async () => {
    const bytes = await readSample('broadcast.m2ts');
    expect(await probeBytes(bytes.subarray(0, -1))).toMatchObject({ code: 'truncated_file' });
  });

  test('a plain transport stream (188 bytes a packet) is one too', async () => {
    const stamped = await readSample('broadcast.m2ts');
    const packets = Array.from({ length: stamped.length / 192 }, (_, index) =>
      stamped.subarray(index * 192 + 4, (index + 1) * 192),
    );
    const plain = Buffer.concat(packets);
    expect(await probeBytes(plain)).toMatchObject({ container: 'mpeg-ts', durationS: expect.closeTo(3, 0) });
  });

  test('WAV, AVI and FLAC tell their duration', async () => {
    expect(await probeBytes(wav(16_000, 2))).toMatchObject({ container: 'wav', durationS: 2 });
    expect(await probeBytes(wav(16_000, 2).subarray(0, -1))).toMatchObject({ code: 'truncated_file' });
    expect(await probeBytes(avi(40_000, 75))).toMatchObject({ container: 'avi', durationS: 3 });
    expect(await probeBytes(flac(44_100, 88_200))).toMatchObject({ container: 'flac', durationS: 2 });
  });

  test('damaged boxes are damaged, missing ones truncated', async () => {
    const box = (type: string, body: Buffer = Buffer.alloc(0), size = 8 + body.length) => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(size);
      head.write(type, 4);
      return Buffer.concat([head, body]);
    };
    const moov = box('moov', box('mvhd', Buffer.alloc(100)));
    expect(await probeBytes(Buffer.concat([box('ftyp'), moov, box('mdat')]))).toMatchObject({
      isPlayable: true,
      durationS: null,
    });
    expect(await probeBytes(Buffer.concat([box('ftyp'), moov]))).toMatchObject({ code: 'truncated_file' });
    expect(await probeBytes(Buffer.concat([box('ftyp'), box('mdat')]))).toMatchObject({ code: 'truncated_file' });
    expect(await probeBytes(Buffer.concat([box('ftyp'), box('free', undefined, 3)]))).toMatchObject({
      code: 'damaged_file',
    });
    expect(await probeBytes(Buffer.concat([box('ftyp'), box('moov'), box('mdat')]))).toMatchObject({
      code: 'damaged_file',
    });
    expect(await probeBytes(Buffer.concat(Array.from({ length: 100_001 }, () => box('free'))))).toMatchObject({
      code: 'damaged_file',
    });
  });

  test('whatever the bytes are, there is a verdict and no error', async () => {
    const heads = ['ftyp', 'RIFF', 'fLaC', 'ID3', 'G']
      .map((head) => Buffer.from(head))
      .concat(Buffer.from('1a45dfa3', 'hex'), Buffer.from('fffb9064', 'hex'));
    const bytes = fc
      .tuple(fc.constantFrom(Buffer.alloc(0), ...heads), fc.uint8Array({ maxLength: 600 }))
      .map((parts) => Buffer.concat(parts));
    await fc.assert(
      fc.asyncProperty(bytes, async (some) => {
        const verdict = await probeBytes(some);
        expect(verdict.isPlayable ? verdict.container : verdict.message).toMatch(/./);
      }),
      { numRuns: 150 },
    );
  });

  test('a real file with flipped bytes gets a verdict, too', async () => {
    const clip = await readSample('clip.mp4');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { minLength: 1, maxLength: 8 }), async (flips) => {
        const bytes = Buffer.from(clip);
        for (const [offset, value] of flips) bytes[offset] = value;
        expect(typeof (await probeBytes(bytes)).isPlayable).toBe('boolean');
      }),
      { numRuns: 60 },
    );
  });
});

function wav(bytesPerSecond: number, seconds: number): Buffer {
  const data = bytesPerSecond * seconds;
  const bytes = Buffer.alloc(44 + data);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + data, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt32LE(bytesPerSecond, 28);
  bytes.write('data', 36);
  bytes.writeUInt32LE(data, 40);
  return bytes;
}

function avi(microsecondsPerFrame: number, frames: number): Buffer {
  const bytes = Buffer.alloc(100);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(92, 4);
  bytes.write('AVI LIST', 8);
  bytes.write('hdrlavih', 20);
  bytes.writeUInt32LE(microsecondsPerFrame, 32);
  bytes.writeUInt32LE(frames, 48);
  return bytes;
}

function flac(sampleRate: number, samples: number): Buffer {
  const bytes = Buffer.alloc(42);
  bytes.write('fLaC', 0);
  bytes.writeUIntBE(sampleRate << 4, 18, 3);
  bytes.writeUInt32BE(samples, 22);
  return bytes;
}
