import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { Prober } from '../../../packages/sandbox/src/media/prober.ts';
import { readSample, until } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { avi, avif, avix, flac, oddWav, plainTransportStream, rf64, turned, wav } from './samples.ts';
import type { Probe } from '../../../packages/sandbox/src/media/media-report.ts';

const prober = new Prober();
afterAll(() => prober[Symbol.asyncDispose]());

async function probeBytes(bytes: Uint8Array, by = prober): Promise<Probe> {
  await using folder = await scratchDirectory();
  const path = join(folder.path, 'file');
  await writeFile(path, bytes);
  return await by.probe(path); // the folder goes at the end of the block
}

function probeSample(name: string, by = prober): Promise<Probe> {
  return by.probe(fileURLToPath(new URL(`../../media/${name}`, import.meta.url)));
}

function facts(container: string, fileExtension: string, mediaType: string) {
  return { isPlayable: true, container, fileExtension, mediaType };
}

describe('complete files', () => {
  const h264 = { videoCodec: 'AVC', audioCodec: 'AAC' };
  test.each([
    ['clip.mp4', 4, { ...facts('mp4', 'mp4', 'video/mp4'), ...h264, width: 320, height: 180, frameRate: 25 }],
    ['camera.mov', 3, { ...facts('mp4', 'mov', 'video/quicktime'), audioCodec: 'PCM', frameRate: 30 }],
    ['phone-vertical.mp4', 2, { ...facts('mp4', 'mp4', 'video/mp4'), width: 180, height: 320 }],
    ['lecture.mkv', 6.008, { ...facts('matroska', 'mkv', 'video/matroska'), videoCodec: 'VP9', audioCodec: 'Opus' }],
    ['interview.mp3', 5, { ...facts('mp3', 'mp3', 'audio/mpeg'), width: null, videoCodec: null, bitRate: 32_000 }],
    ['broadcast.m2ts', 3, { ...facts('mpeg-ts', 'm2ts', 'video/mp2t'), ...h264, width: 160, height: 90 }],
  ])('%s: %d s', async (sample, seconds, expected) => {
    const verdict = await probeSample(sample);
    expect(verdict).toMatchObject(expected);
    expect(verdict.isPlayable && Math.abs((verdict.durationS ?? 0) - seconds)).toBeLessThan(0.11);
  });

  test('a plain transport stream (188 bytes a packet) is one too', async () => {
    const plain = plainTransportStream(await readSample('broadcast.m2ts'));
    const verdict = { ...facts('mpeg-ts', 'ts', 'video/mp2t'), durationS: expect.closeTo(3, 0) };
    expect(await probeBytes(plain)).toMatchObject(verdict);
  });

  test('WAV, AVI and FLAC', async () => {
    expect(await probeBytes(wav(2))).toMatchObject({ ...facts('wav', 'wav', 'audio/wav'), durationS: 2 });
    const video = avi({ frames: 75, framesPerSecond: 25 });
    expect(await probeBytes(video)).toMatchObject({
      ...facts('avi', 'avi', 'video/x-msvideo'),
      durationS: 3,
      width: 320,
    });
    expect(await probeBytes(flac)).toMatchObject({ ...facts('flac', 'flac', 'audio/flac'), durationS: 2 });
  });

  test('a WAV or AVI of a live recorder, with all ones as its size, is complete', async () => {
    for (const bytes of [wav(2), avi({ frames: 75, framesPerSecond: 25 })]) {
      bytes.writeUInt32LE(0xff_ff_ff_ff, 4);
      expect(await probeBytes(bytes)).toMatchObject({ isPlayable: true });
    }
  });

  test.each(['XAVC', 'iso6', 'cmfc', 'dash', 'hvc1', 'F4V ', 'kddi', 'new!'])(
    'an MP4 of the brand %s is complete like any other',
    async (brand) => {
      const bytes = await readSample('clip.mp4');
      const branded = Buffer.from(bytes);
      branded.write(brand, 8, 'latin1');
      expect(await probeBytes(branded)).toEqual(await probeBytes(bytes));
      expect(await probeBytes(branded.subarray(0, -1))).toMatchObject({ code: 'truncated_file' });
    },
  );

  test('a 3GP of a brand that MediaInfo does not know is one too', async () => {
    const bytes = await readSample('clip.mp4');
    bytes.write('3gr9', 8);
    expect(await probeBytes(bytes)).toMatchObject(facts('mp4', '3gp', 'video/3gpp'));
  });

  describe('with bytes behind the end of the container', () => {
    const strays: [string, Buffer][] = [
      ['four zeros', Buffer.alloc(4)],
      ['zeros as padding', Buffer.alloc(5000)],
      ['four letters', Buffer.from('junk')],
      ['seven bytes that begin a box', Buffer.from('000003e86d6f6f', 'hex')],
      ['bytes of all ones', Buffer.alloc(9, 0xff)],
      ['text', Buffer.from('junk'.repeat(75))],
      ['random bytes', Buffer.from(Array.from({ length: 999 }, (_, index) => (index * index * 31 + 7) & 255))],
      ['an ID3v1 tag', Buffer.from('TAGMy title'.padEnd(128, '\0'))],
    ];
    test.each(['clip.mp4', 'phone-vertical.mp4', 'camera.mov', 'lecture.mkv'])('%s is complete', async (sample) => {
      const bytes = await readSample(sample);
      const whole = await probeBytes(bytes);
      for (const [what, stray] of strays)
        expect([what, await probeBytes(Buffer.concat([bytes, stray]))]).toEqual([what, whole]);
    });

    test.each([
      ['WAV', wav(1)],
      ['WAV with an odd number of bytes', oddWav()],
      ['RF64', rf64(wav(1))],
      ['AVI', avi({ frames: 25, framesPerSecond: 25 })],
      ['AVI with a second RIFF', Buffer.concat([avi({ frames: 25, framesPerSecond: 25 }), avix()])],
    ])('%s is complete', async (_name, bytes) => {
      const whole = await probeBytes(bytes);
      expect(whole).toMatchObject({ isPlayable: true });
      for (const [what, stray] of strays)
        expect([what, await probeBytes(Buffer.concat([bytes, stray]))]).toEqual([what, whole]);
      for (const [what, stray] of strays.filter(([, { length }]) => length < 100))
        expect([what, await probeBytes(Buffer.concat([bytes.subarray(0, -100), stray]))]).toMatchObject([
          what,
          { code: 'truncated_file' },
        ]);
    });

    test.each(['plain', 'M2TS'])('a %s transport stream is complete', async (layout) => {
      const m2ts = await readSample('broadcast.m2ts');
      const bytes = layout === 'plain' ? plainTransportStream(m2ts) : m2ts;
      const whole = await probeBytes(bytes);
      for (const [what, stray] of strays.filter(([, { length }]) => length > 4 && length < 1000))
        expect([what, await probeBytes(Buffer.concat([bytes, stray]))]).toEqual([what, whole]);
    });

    test.each(['mdat', 'moof', 'moov', 'uuid', 'free'])('an MP4 is truncated if they are a cut %s', async (type) => {
      const cut = Buffer.concat([Buffer.from('000003e8', 'hex'), Buffer.from(type), Buffer.alloc(100)]);
      const verdict = await probeBytes(Buffer.concat([await readSample('clip.mp4'), cut]));
      expect(verdict).toMatchObject({ code: 'truncated_file', message: expect.stringContaining('892 of its') });
    });

    test.each(['clip.mp4', 'camera.mov'])(
      '%s is truncated if index or media data are missing before them',
      async (sample) => {
        const bytes = await readSample(sample);
        for (const box of ['moov', 'mdat']) {
          const at = bytes.indexOf(box) - 4;
          const without = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + bytes.readUInt32BE(at))]);
          for (const [what, stray] of strays)
            expect([what, await probeBytes(Buffer.concat([without, stray]))]).toMatchObject([
              what,
              { isPlayable: false },
            ]);
        }
      },
    );
  });

  test('a rotated video has its displayed size', async () => {
    const upright = turned(await readSample('clip.mp4'));
    expect(await probeBytes(upright)).toMatchObject({ width: 180, height: 320 });
  });
});

describe('files that play although their containers contradict', () => {
  /** A WAV of one second that states these lengths. */
  function placeholder(whole: number, data: number): Buffer {
    const bytes = wav(1);
    bytes.writeUInt32LE(whole, 4);
    bytes.writeUInt32LE(data, 40);
    return bytes;
  }

  test.each([
    [0x7ffff024, 0x7ffff000],
    [0x7fff0024, 0x7fff0000],
    [0xffffffbf, 0xffffff9b],
    [2_000_000_036, 2_000_000_000],
    [0xffffffff, 0xffffffff],
  ])('a WAV that was written through a pipe is complete (%d, %d), and its duration unknown', async (whole, data) => {
    expect(await probeBytes(placeholder(whole, data))).toMatchObject({
      ...facts('wav', 'wav', 'audio/wav'),
      durationS: null,
    });
  });

  test('an MP3 and a transport stream whose last piece is cut are complete', async () => {
    expect(await probeBytes((await readSample('interview.mp3')).subarray(0, -50))).toMatchObject({ container: 'mp3' });
    expect(await probeBytes((await readSample('broadcast.m2ts')).subarray(0, -1))).toMatchObject({
      container: 'mpeg-ts',
    });
  });

  test('a transport stream with error correction is one', async () => {
    const plain = plainTransportStream(await readSample('broadcast.m2ts'));
    const packets = Array.from({ length: plain.length / 188 }, (_, index) =>
      Buffer.concat([plain.subarray(index * 188, (index + 1) * 188), Buffer.alloc(16)]),
    );
    expect(await probeBytes(Buffer.concat(packets))).toMatchObject(facts('mpeg-ts', 'ts', 'video/mp2t'));
  });

  test('an AIFF with a comment in front has sound', async () => {
    const comment = Buffer.from('Processed by SoX');
    const chunk = (type: string, body: Buffer) => {
      const head = Buffer.alloc(8);
      head.write(type, 'latin1');
      head.writeUInt32BE(body.length, 4);
      return Buffer.concat([head, body]);
    };
    const comments = Buffer.concat([Buffer.from('0001000000000000', 'hex'), Buffer.of(0, comment.length), comment]);
    const common = Buffer.from('000100003e800010400bfa0000000000000000', 'hex').subarray(0, 18);
    const sound = Buffer.alloc(8 + 32_000);
    const parts = [Buffer.from('AIFF'), chunk('COMT', comments), chunk('COMM', common), chunk('SSND', sound)];
    expect(await probeBytes(chunk('FORM', Buffer.concat(parts)))).toMatchObject({
      ...facts('aiff', 'aiff', 'audio/aiff'),
      audioCodec: 'PCM',
      durationS: 2,
    });
  });
});

describe('incomplete files', () => {
  test('an MP4 whose media data were emptied behind its index is truncated', async () => {
    const bytes = await readSample('clip.mp4');
    const at = bytes.indexOf('mdat') - 4;
    const emptied = Buffer.concat([bytes.subarray(0, at + 8), bytes.subarray(at + bytes.readUInt32BE(at))]);
    emptied.writeUInt32BE(8, at);
    expect(await probeBytes(Buffer.concat([emptied, Buffer.alloc(0)]))).toMatchObject({ isPlayable: false });
  });

  test('a FLAC cut anywhere is never complete', async () => {
    for (let length = 0; length < flac.length; length += 1)
      expect([length, (await probeBytes(flac.subarray(0, length))).isPlayable]).toEqual([length, false]);
  });

  test.each(['clip.mp4', 'camera.mov', 'lecture.mkv'])('%s cut anywhere is never complete', async (sample) => {
    const bytes = await readSample(sample);
    // Between the index and the media data of an MP4, and the first and last bytes.
    const mediaData = bytes.indexOf('mdat');
    const edges = [bytes.length - 1, mediaData - 4, mediaData, mediaData + 4, 40, 8, 4, 0].filter((at) => at >= 0);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), async (length) => {
        expect((await probeBytes(bytes.subarray(0, length))).isPlayable).toBe(false);
      }),
      { numRuns: 60, examples: edges.map((length) => [length]) },
    );
  });

  test.each([
    ['a broken copy of an MP4', 'truncated.mp4', Infinity, /35182 of its 65182 bytes/],
    ['an MP4 without its last byte', 'clip.mp4', -1, /1 of its 65182 bytes/],
    ['a camera file whose index never came', 'camera.mov', 120_000, /missing|cut off|index/],
  ])('%s is truncated', async (_name, sample, end, message) => {
    const bytes = (await readSample(sample)).subarray(0, end);
    expect(await probeBytes(bytes)).toMatchObject({ code: 'truncated_file', message: expect.stringMatching(message) });
  });

  test('a WAV without its last byte is truncated', async () => {
    expect(await probeBytes(wav(2).subarray(0, -1))).toMatchObject({ code: 'truncated_file' });
  });

  test('an RF64 that states sizes beyond all numbers is truncated', async () => {
    const bytes = rf64(wav(1));
    bytes.fill(0xff, 20, 36);
    expect(await probeBytes(bytes)).toMatchObject({ code: 'truncated_file' });
  });

  test('MP4 boxes without a track are truncated', async () => {
    const box = (type: string, body = Buffer.alloc(0), size = 8 + body.length) => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(size);
      head.write(type, 4);
      return Buffer.concat([head, body]);
    };
    const movie = box('moov', box('mvhd', Buffer.alloc(100)));
    const files = [
      [box('ftyp'), movie, box('mdat')],
      [box('ftyp'), movie],
      [box('ftyp'), box('mdat')],
      [box('ftyp'), box('free', undefined, 3)],
      Array.from({ length: 100_001 }, () => box('free')),
    ];
    for (const boxes of files) expect(await probeBytes(Buffer.concat(boxes))).toMatchObject({ code: 'truncated_file' });
  });

  test.each([
    ['text', Buffer.from('Dear Sir or Madam\n'.repeat(500))],
    ['random bytes', Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * index * 31 + 7) & 255))],
    ['a GIF, a picture', Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')],
    ['a PDF', Buffer.from('%PDF-1.4\n')],
    ['an archive', Buffer.from('504b0304140000000800', 'hex')],
  ])('%s is an unsupported format', async (_name, bytes) => {
    expect(await probeBytes(bytes)).toMatchObject({ code: 'unsupported_format' });
  });

  test('pictures in the container of MP4 are an unsupported format, whatever their brand', async () => {
    for (const brand of ['avif', 'heic', 'isom', 'new!']) {
      const bytes = Buffer.from(avif);
      bytes.write(brand, 8);
      expect(await probeBytes(bytes)).toMatchObject({ code: 'unsupported_format' });
    }
  });

  test('a header that announces video and sound, with nothing after it, is truncated', async () => {
    const flv = Buffer.from('464c5601050000000900000000', 'hex');
    expect(await probeBytes(flv)).toMatchObject({ code: 'truncated_file' });
  });

  test('an empty file is empty', async () => {
    expect(await probeBytes(Buffer.alloc(0))).toMatchObject({ code: 'empty_file' });
  });
});

describe('hostile bytes', () => {
  test('a Matroska element longer than any file is cut off', async () => {
    const element = Buffer.from('1a45dfa30140000000000000', 'hex');
    for (const length of [12, 400])
      expect(await probeBytes(Buffer.concat([element, Buffer.alloc(length, 1)]))).toMatchObject({
        isPlayable: false,
        message: expect.not.stringContaining('cannot be analysed'),
      });
  });

  test('any bytes get a verdict, never an error', async () => {
    const heads = ['ftyp', 'RIFF', 'fLaC', 'ID3', 'OggS', 'FLV', 'FORM', 'G', '\0\0\0\x18ftypmp42']
      .map((head) => Buffer.from(head))
      .concat(
        ['1a45dfa3', 'fffb9064', '3026b2758e66cf11', '060e2b3402050101', '000001ba'].map((hex) =>
          Buffer.from(hex, 'hex'),
        ),
      );
    const bytes = fc
      .tuple(fc.constantFrom(Buffer.alloc(0), ...heads), fc.uint8Array({ maxLength: 600 }))
      .map((parts) => Buffer.concat(parts));
    await fc.assert(
      fc.asyncProperty(bytes, async (some) => {
        const verdict = await probeBytes(some);
        expect(verdict.isPlayable ? verdict.container : verdict.message).toMatch(/./);
      }),
      { numRuns: 300 },
    );
  });

  test.each(['clip.mp4', 'lecture.mkv', 'broadcast.m2ts', 'interview.mp3'])('%s with bytes changed', async (sample) => {
    const whole = await readSample(sample);
    await using hasty = new Prober(1000); // one file in a thousand sends the parser round in circles
    const change = fc.tuple(fc.nat(Math.min(6000, whole.length - 1)), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [offset, value] of changes) bytes[offset] = value;
        const verdict = await probeBytes(bytes, hasty);
        expect(['boolean', 'object']).toContain(typeof verdict.isPlayable);
        if (verdict.isPlayable) expect(verdict.durationS ?? 1).toBeGreaterThan(0);
      }),
      { numRuns: 80 },
    );
  });

  test('10,000 boxes inside each other do not exhaust the parser', async () => {
    const depth = 10_000;
    const boxes = Buffer.alloc(depth * 8);
    for (let level = 0; level < depth; level += 1) {
      boxes.writeUInt32BE((depth - level) * 8, level * 8);
      boxes.write(level === 0 ? 'moov' : 'trak', level * 8 + 4);
    }
    const head = Buffer.from('\0\0\0\x10ftypisom\0\0\0\0', 'latin1');
    expect(await probeBytes(Buffer.concat([head, boxes]))).toMatchObject({ isPlayable: false });
  });

  test('of 3 GB that look like no format only the beginning is read', async () => {
    await using folder = await scratchDirectory();
    const path = join(folder.path, 'file');
    await writeFile(path, '');
    await truncate(path, 3e9);
    // Reading it all takes longer than the prober's limit, and the verdict would be another.
    expect(await prober.probe(path)).toMatchObject({ code: 'unsupported_format' });
  });
});

describe('the prober', () => {
  test('probes concurrent files, each with its own verdict', async () => {
    const names = ['clip.mp4', 'interview.mp3', 'lecture.mkv', 'truncated.mp4'];
    const verdicts = await Promise.all([...names, ...names].map((name) => probeSample(name)));
    const expected = ['mp4', 'mp3', 'matroska', 'truncated_file'];
    const found = verdicts.map((verdict) => (verdict.isPlayable ? verdict.container : verdict.code));
    expect(found).toEqual([...expected, ...expected]);
  });

  test('gives up a file after the timeout, and never uses its late answer for the next file', async () => {
    await using folder = await scratchDirectory();
    const path = join(folder.path, 'slow');
    await writeFile(path, Buffer.alloc(100_000_000, 'G')); // sync bytes of a transport stream and nothing else: read to the end
    await using hasty = new Prober(100); // that file takes three times as long, a real one an eighth
    expect(await hasty.probe(path)).toMatchObject({ code: 'damaged_file' });
    await until(async () => {
      const verdict = await probeSample('clip.mp4', hasty);
      if (!verdict.isPlayable) expect(verdict.code).toBe('damaged_file'); // too short for it too, while the machine is busy
      return verdict.isPlayable || undefined;
    });
    expect(await prober.probe(path)).toMatchObject({ code: 'unsupported_format' });
  });

  test('close rejects running and waiting probes', async () => {
    await using folder = await scratchDirectory();
    const path = join(folder.path, 'slow');
    await writeFile(path, Buffer.alloc(100_000_000, 'G'));
    const closing = new Prober();
    const asked = Promise.allSettled([closing.probe(path), probeSample('clip.mp4', closing)]);
    closing.close(new Error('the end'));
    for (const { status, reason } of (await asked) as PromiseRejectedResult[])
      expect([status, String(reason)]).toEqual(['rejected', 'Error: the end']);
    await closing[Symbol.asyncDispose]();
  });

  test('rejects for an unreadable file, and probes the next one', async () => {
    await expect(prober.probe('/nowhere/file')).rejects.toThrow('ENOENT');
    expect(await probeSample('clip.mp4')).toMatchObject({ isPlayable: true });
  });
});
