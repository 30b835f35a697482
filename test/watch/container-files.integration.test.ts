import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { endOf } from '@dropcast/media';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** Where a cut cannot be told, by what is left of the file: so many bytes of `size`, of which the whole file is `whole`. */
type Blind = (left: number, whole: Buffer) => boolean;

interface Format {
  /** Arguments of ffmpeg, without the name of the file. */
  readonly args: readonly string[];
  readonly ending: string;
  readonly isBlindAt: Blind;
  /** What a tool makes of it that ffmpeg cannot make. */
  readonly remade?: (bytes: Buffer) => Buffer;
}

const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25:duration=1'];
const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000:duration=1'];
const mpeg4 = [...picture, ...tone, '-c:v', 'mpeg4', '-c:a', 'aac'];
const mpeg2 = [...picture, ...tone, '-c:v', 'mpeg2video', '-c:a', 'mp2'];
const broadcast = [...picture, ...tone, '-c:v', 'mpeg2video', '-c:a', 'pcm_s16le', '-ac', '1'];

/** Too little to know what it is. */
const upTo =
  (bytes: number): Blind =>
  (left) =>
    left < bytes;
/** A whole number of packets, or so little more that the next one cannot be told from stray bytes; and fewer packets than make a grid. */
const wherePacketsEnd =
  (packet: number, sync: number): Blind =>
  (left) =>
    left < 5 * packet || left % packet <= sync;

const formats: Readonly<Record<string, Format>> = {
  'MP4, index at the end': { args: mpeg4, ending: 'mp4', isBlindAt: upTo(8) },
  'MP4, index in front': { args: [...mpeg4, '-movflags', '+faststart'], ending: 'mp4', isBlindAt: upTo(8) },
  QuickTime: { args: mpeg4, ending: 'mov', isBlindAt: upTo(8) },
  Matroska: { args: mpeg4, ending: 'mkv', isBlindAt: upTo(4) },
  WebM: {
    args: [...picture, '-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8'],
    ending: 'webm',
    isBlindAt: upTo(4),
  },
  'MPEG-TS': { args: mpeg2, ending: 'ts', isBlindAt: wherePacketsEnd(188, 0) },
  'MPEG-TS with time stamps': {
    args: [...mpeg2, '-mpegts_m2ts_mode', '1'],
    ending: 'm2ts',
    isBlindAt: wherePacketsEnd(192, 4),
  },
  'MPEG-TS with error correction': {
    args: mpeg2,
    ending: 'ts',
    isBlindAt: wherePacketsEnd(204, 0),
    remade: withErrorCorrection,
  },
  MXF: { args: broadcast, ending: 'mxf', isBlindAt: upTo(16) },
  'MXF of one track': {
    args: [...tone, '-c:a', 'pcm_s16le', '-ac', '1', '-f', 'mxf_opatom'],
    ending: 'mxf',
    isBlindAt: upTo(16),
  },
  WAV: { args: tone, ending: 'wav', isBlindAt: upTo(12) },
  RF64: { args: [...tone, '-rf64', 'always'], ending: 'wav', isBlindAt: upTo(12) },
  FLAC: { args: tone, ending: 'flac', isBlindAt: upTo(4) },
  'FLAC with 24 bits and a picture': {
    args: [...tone, '-c:a', 'flac', '-sample_fmt', 's32', '-compression_level', '8'],
    ending: 'flac',
    isBlindAt: upTo(4),
  },
};

/** Their containers say where they end. */
const TOLERANT = new Set(['MP4, index at the end', 'MP4, index in front', 'QuickTime', 'Matroska', 'WebM', 'WAV']);

const small = ['-f', 'lavfi', '-i', 'testsrc2=size=96x54:rate=25:duration=1', '-c:v', 'mpeg4', '-g', '12'];
const smallTone = [...small.slice(0, 4), ...tone, ...small.slice(4), '-c:a', 'aac', '-b:a', '16k'];

/** Cut at every byte. Between two fragments nothing says that more should come. */
const cutEverywhere: Readonly<Record<string, readonly string[]>> = {
  'index at the end': [],
  'index in front': ['-movflags', '+faststart'],
  'fragments behind an empty index': ['-movflags', 'frag_keyframe+empty_moov'],
  'fragments behind an index of the first samples': ['-movflags', 'frag_keyframe+default_base_moof'],
};

const files = new Map<string, Buffer>();

describe('a file as ffmpeg makes it', needs('ffmpeg'), () => {
  beforeAll(async () => {
    await using directory = await scratchDirectory();
    await Promise.all(
      Object.entries(formats).map(async ([name, { args, ending, remade }], index) => {
        const path = directory.file(`${index}.${ending}`);
        await promisify(execFile)('ffmpeg', ['-v', 'error', '-threads', '1', ...args, path]);
        const bytes = await readFile(path);
        files.set(name, remade?.(bytes) ?? bytes);
      }),
    );
  }, 60_000);

  describe.each(Object.entries(cutEverywhere))('MP4, %s', (name, flags) => {
    let bytes = Buffer.of();
    let boxes: readonly Span[] = [];
    let lastSampleAt = 0;
    beforeAll(async () => {
      await using directory = await scratchDirectory();
      const path = directory.file('file.mp4');
      await promisify(execFile)('ffmpeg', ['-v', 'error', '-threads', '1', ...smallTone, ...flags, path]);
      bytes = await readFile(path);
      boxes = spansOf(bytes);
      const probe = ['-v', 'error', '-show_entries', 'packet=pos', '-of', 'csv=p=0', path];
      const { stdout } = await promisify(execFile)('ffprobe', probe);
      lastSampleAt = Math.max(...stdout.split(/\D+/u).map(Number));
    });

    /** Between fragments, also with the first seven bytes of the next one; what follows the last one is for players that search. */
    const isBetweenFragments = (left: number): boolean =>
      boxes.some(
        ({ type, at }, index) =>
          type !== 'mdat' &&
          left >= at &&
          left < at + 8 &&
          boxes[index - 1]?.type === 'mdat' &&
          name.startsWith('frag'),
      );

    test('is flawed wherever it is cut', async () => {
      const unseen: number[] = [];
      for (let left = 8; left < bytes.length; left += 1)
        if ((await flawOf(bytes.subarray(0, left))) === null && !isBetweenFragments(left)) unseen.push(left);
      expect(unseen).toEqual([]);
    });

    test.runIf(!name.startsWith('frag'))('is flawed if its end is all zeros', async () => {
      const { at = 0, end = 0 } = boxes.find(({ type }) => type === 'moov') ?? {};
      // The names of the tools at the end of the index are needed by nobody.
      const needed = Math.max(lastSampleAt, end > lastSampleAt ? bytes.indexOf('udta', at) - 4 : 0);
      const unseen: number[] = [];
      for (let left = 8; left < needed; left += 1) {
        const reserved = Buffer.concat([bytes.subarray(0, left), Buffer.alloc(bytes.length - left)]);
        if ((await flawOf(reserved)) === null) unseen.push(left);
      }
      expect(unseen).toEqual([]);
    });
  });

  test('MP4, fragments: is flawed if its end is all zeros, from the middle of a fragment on', async () => {
    await using directory = await scratchDirectory();
    const path = directory.file('file.mp4');
    const flags = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof'];
    await promisify(execFile)('ffmpeg', ['-v', 'error', '-threads', '1', ...smallTone, ...flags, path]);
    const bytes = await readFile(path);
    const parts = spansOf(bytes).filter(({ type }) => ['moov', 'moof', 'mdat'].includes(type));
    expect(parts.length).toBeGreaterThan(5);
    for (const { type, at, end } of parts) {
      const left = Math.floor((at + end) / 2);
      const reserved = Buffer.concat([bytes.subarray(0, left), Buffer.alloc(bytes.length - left)]);
      expect([type, left, await flawOf(reserved)]).toEqual([type, left, expect.any(String)]);
    }
  });

  describe.each(Object.entries(formats))('%s', (name, { isBlindAt }) => {
    const whole = () => files.get(name) ?? Buffer.of();

    test('is sound when it is whole, also with a few stray bytes after its end', async () => {
      expect(await flawOf(whole())).toBeNull();
      for (const stray of [Buffer.alloc(4), Buffer.from('junk')])
        expect(await flawOf(Buffer.concat([whole(), stray]))).toBeNull();
    });

    test.runIf(TOLERANT.has(name))('is sound with a tag or text behind its end', async () => {
      for (const stray of ['TAGMy title'.padEnd(128, '\0'), 'junk'.repeat(75)])
        expect(await flawOf(Buffer.concat([whole(), Buffer.from(stray)]))).toBeNull();
    });

    test('is flawed at any cut that its format reveals', async () => {
      const bytes = whole();
      const cuts = Array.from({ length: 20 }, (_, index) => Math.floor((bytes.length * index) / 20) + index * 7 + 3);
      for (const left of [...cuts, bytes.length - 1].filter((cut) => cut < bytes.length)) {
        const flaw = await flawOf(bytes.subarray(0, left));
        const expected = isBlindAt(left, bytes) ? null : expect.any(String);
        expect(flaw, `cut to ${left} of ${bytes.length} bytes`).toEqual(expected);
      }
    });
  });
});

async function flawOf(bytes: Buffer): Promise<string | null> {
  const { flaw } = await endOf(async (position, length) => bytes.subarray(position, position + length), bytes.length);
  return flaw?.why ?? null;
}

interface Span {
  readonly type: string;
  readonly at: number;
  readonly end: number;
}

function spansOf(bytes: Buffer): readonly Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < bytes.length; at = spans.at(-1)?.end ?? Infinity)
    spans.push({ type: bytes.toString('latin1', at + 4, at + 8), at, end: at + bytes.readUInt32BE(at) });
  return spans;
}

/** 16 bytes behind each packet, as some receivers of satellites write them. */
function withErrorCorrection(bytes: Buffer): Buffer {
  const packets = Array.from({ length: bytes.length / 188 }, (_, index) =>
    Buffer.concat([bytes.subarray(index * 188, index * 188 + 188), Buffer.alloc(16, 0xee)]),
  );
  return Buffer.concat(packets);
}
