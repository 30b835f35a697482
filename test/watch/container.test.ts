import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flawOf } from './flaw-of.ts';

function box(type: string, content = 0, length = content + 8): Buffer {
  const header = Buffer.alloc(8 + content);
  header.writeUInt32BE(length, 0);
  header.write(type, 4, 'latin1');
  return header;
}

function largeBox(type: string, length: bigint, content = 0): Buffer {
  const header = Buffer.alloc(16 + content);
  header.writeUInt32BE(1, 0);
  header.write(type, 4, 'latin1');
  header.writeBigUInt64BE(length, 8);
  return header;
}

function inside(type: string, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([box(type, 0, content.length + 8), content]);
}

/** Of 32-bit numbers. */
function table(type: string, ...values: number[]): Buffer {
  const content = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => content.writeUInt32BE(value, index * 4));
  return inside(type, content);
}

/** An index without a track. */
const MOOV = inside('moov', box('mvhd', 100));
/** A fragment without a track. */
const MOOF = inside('moof', table('mfhd', 0, 1));

interface Sound {
  readonly codec: string;
  /** Where each chunk begins. */
  readonly chunks: readonly number[];
  /** Runs of chunks: the first of them, the samples in each, and a description. */
  readonly runs: readonly (readonly [number, number, 1])[];
  readonly sizes: readonly number[];
  readonly isElsewhere?: boolean;
}

/** An index of one track, whatever its chunks, of a length that depends on how many there are. */
function indexOf({ codec, chunks, runs, sizes, isElsewhere = false }: Sound): Buffer {
  const description = inside('stsd', Buffer.alloc(7), Buffer.of(1), box(codec, 20));
  const tables = inside(
    'stbl',
    description,
    table('stsc', 0, runs.length, ...runs.flat()),
    table('stsz', 0, 0, sizes.length, ...sizes),
    table('stco', 0, chunks.length, ...chunks),
  );
  const data = inside('dinf', inside('dref', Buffer.alloc(7), Buffer.of(1), table('url ', isElsewhere ? 0 : 1)));
  const header = table('tkhd', 7, 0, 0, 1, 0, 0);
  const track = inside('trak', header, inside('mdia', inside('minf', data, tables)));
  return inside('moov', box('mvhd', 100), track, inside('udta', box('name', 12)));
}

const COMPLETE = [box('ftyp', 16), MOOV, box('mdat', 500)];
/** The four letters as a length: 0x6a756e6b. */
const JUNK = 'the container says 1,786,080,867 bytes are missing';
const NO_INDEX = 'the container has no index (moov) yet';
const PART = 'the index of the container (moov) is only partly written yet';
const ZERO_FRAME = 'the container says a frame is where only zeros have been written yet';

describe('MP4 and QuickTime', () => {
  test.each<[string, Buffer[], string | null]>([
    ['index first', [box('ftyp', 16), MOOV, box('mdat', 500)], null],
    ['index last', [box('ftyp', 16), box('mdat', 500), MOOV], null],
    ['old QuickTime', [box('wide'), box('mdat', 500), MOOV], null],
    ['64-bit length', [box('ftyp', 16), largeBox('mdat', 516n, 500), MOOV], null],
    ['media data up to the end of the file', [box('ftyp', 16), MOOV, box('mdat', 900, 0)], null],
    ['fragments', [box('ftyp', 16), MOOV, MOOF, box('mdat', 99)], null],
    ['zeros behind the index', [box('ftyp', 16), MOOV, Buffer.alloc(64)], null],
    ['four bytes behind the index', [box('ftyp', 16), MOOV, Buffer.alloc(4)], null],
    ['zeros behind a complete file', [...COMPLETE, Buffer.alloc(5000)], null],
    ['text behind a complete file', [...COMPLETE, Buffer.from('junkjunkjunk')], null],
    ['a tag behind a complete file', [...COMPLETE, Buffer.from('TAGMy title'.padEnd(128, '\0'))], null],
    ['seven bytes that begin a box', [...COMPLETE, box('moof', 10, 500).subarray(0, 7)], null],
    ['text behind an index without media data', [box('ftyp', 16), MOOV, Buffer.from('junkjunk')], JUNK],
    ['text behind media data without an index', [box('ftyp', 16), box('mdat', 10), Buffer.from('junkjunk')], JUNK],
    ['a second mdat cut', [...COMPLETE, box('mdat', 2, 1242)], 'the container says 1,232 bytes are missing'],
    ['a fragment cut', [...COMPLETE, box('moof', 2, 1242)], 'the container says 1,232 bytes are missing'],
    ['free space cut', [...COMPLETE, box('free', 0, 9)], 'the container says 1 byte is missing'],
    ['a still image', [box('ftyp', 16), box('meta', 10), box('mdat', 10)], null],
    ['a segment of a stream', [box('styp', 16), box('moof', 10), box('mdat', 10, 5000)], null],
    ['a QuickTime user box', [box('ftyp', 16), MOOV, box('\u00a9xyz', 10)], null],
    ['no index', [box('ftyp', 16), box('mdat', 500)], NO_INDEX],
    ['no index, media data up to the end', [box('ftyp', 16), box('mdat', 500, 0)], NO_INDEX],
    ['only a start', [box('ftyp', 16)], NO_INDEX],
    ['preallocated, the index not yet written', [box('ftyp', 16), box('mdat', 500), Buffer.alloc(100)], NO_INDEX],
    ['media data cut', [box('ftyp', 16), MOOV, box('mdat', 10, 1252)], 'the container says 1,234 bytes are missing'],
    ['index cut', [box('ftyp', 16), box('mdat', 10), box('moov', 10, 19)], 'the container says 1 byte is missing'],
    [
      'a length near 2^64',
      [box('ftyp', 16), largeBox('mdat', 2n ** 64n - 1n)],
      'the container says 18,446,744,073,709,551,599 bytes are missing',
    ],
    [
      'a length of 2^63',
      [largeBox('mdat', 2n ** 63n)],
      'the container says 9,223,372,036,854,775,792 bytes are missing',
    ],
    ['a length smaller than its header', [box('ftyp', 16), box('mdat', 0, 7)], NO_INDEX],
    ['a 64-bit length not written yet', [box('ftyp', 16), largeBox('mdat', 0n, 500)], NO_INDEX],
    ['a 64-bit length of 1', [box('ftyp', 16), largeBox('mdat', 1n)], NO_INDEX],
    ['a 64-bit length cut', [box('ftyp', 16), largeBox('mdat', 500n).subarray(0, 12)], NO_INDEX],
    ['garbage after the first box', [box('ftyp', 16), Buffer.from('ffffffff01020304ffffffff', 'hex')], NO_INDEX],
    ['garbage behind an index', [box('ftyp', 16), MOOV, Buffer.from('ffffffff01020304ffffffff', 'hex')], null],
  ])('%s', async (_, parts, expected) => {
    expect((await flawOf(Buffer.concat(parts))).flaw).toBe(expected);
  });

  test('a hundred thousand tiny boxes cost a bounded number of reads', async () => {
    const { flaw, reads } = await flawOf(
      Buffer.concat([box('ftyp'), ...Array.from({ length: 100_000 }, () => box('free'))]),
    );
    expect(flaw).toBeNull();
    expect(reads).toBeLessThan(5000);
  });

  test('a cut behind more fragments than a recording of an hour has is found', async () => {
    const fragments = Array.from({ length: 20_000 }, () => Buffer.concat([MOOF, box('mdat', 600)]));
    const bytes = Buffer.concat([box('ftyp', 16), MOOV, ...fragments]);
    expect((await flawOf(bytes)).flaw).toBeNull();
    expect((await flawOf(bytes.subarray(0, -7))).flaw).toBe('the container says 7 bytes are missing');
  });

  test('a file of 2^40 bytes is judged by its boxes alone', async () => {
    const start = Buffer.concat([box('ftyp', 16), MOOV, largeBox('mdat', 2n ** 40n)]);
    expect((await flawOf(start, 2 ** 40)).flaw).toContain('140 bytes');
    expect((await flawOf(start, 2 ** 40 + 140)).flaw).toBeNull();
  });
});

describe('the index of an MP4', () => {
  const track = { codec: 'avc1', runs: [[1, 2, 1]], sizes: [50, 50, 60, 40] } as const;
  const start = 24 + indexOf({ ...track, chunks: [0, 0] }).length + 8;
  const index = indexOf({ ...track, chunks: [start, start + 100] });
  const file = (data: Buffer, between: Buffer[] = []) =>
    Buffer.concat([box('ftyp', 16), index, ...between, inside('mdat', data)]);
  const data = Buffer.alloc(200, 7);
  const whole = file(data);

  test.each<[string, Buffer, string | null]>([
    ['whose samples are all there', whole, null],
    ['alone', whole.subarray(0, start - 8), 'the container says 208 bytes are missing'],
    ['and three bytes', whole.subarray(0, start - 5), 'the container says 205 bytes are missing'],
    [
      'and text',
      Buffer.concat([whole.subarray(0, start - 8), Buffer.from('\0\0\0\x10free12345678')]),
      'the container says 192 bytes are missing',
    ],
    [
      'whose media data end with the file, and are cut',
      Buffer.concat([box('ftyp', 16), index, box('mdat', 199, 0)]),
      'the container says 1 byte is missing',
    ],
    [
      'of two mdat, of which the second is missing',
      Buffer.concat([box('ftyp', 16), index, box('mdat', 100)]),
      'the container says 100 bytes are missing',
    ],
    ['with zeros behind it', Buffer.concat([whole.subarray(0, start), Buffer.alloc(200)]), ZERO_FRAME],
    ['with zeros where the last frame belongs', file(Buffer.alloc(200, Buffer.alloc(160, 7)).fill(0, 160)), ZERO_FRAME],
    ['with zeros in the middle of its last frame', file(Buffer.from(data).fill(0, 170)), null],
    ['whose movie was not written', Buffer.concat([whole.subarray(0, 32), Buffer.alloc(whole.length - 32)]), PART],
    ['whose track was not written', Buffer.concat([whole.subarray(0, 150), Buffer.alloc(whole.length - 150)]), PART],
    [
      'whose table of chunks was not written',
      Buffer.concat([whole.subarray(0, index.indexOf('stco') + 24 + 12), Buffer.alloc(500)]),
      PART,
    ],
  ])('%s', async (_, bytes, expected) => {
    expect((await flawOf(bytes)).flaw).toBe(expected);
  });

  test.each<[string, Partial<Sound>, string | null]>([
    ['silence without compression is no gap', { codec: 'sowt' }, null],
    ['samples in another file are not missed', { isElsewhere: true, chunks: [9_999_999] }, null],
    [
      'a last chunk of fewer samples than the others is whole',
      { chunks: [start - 4, start + 96], sizes: [50, 50, 60], codec: 'sowt' },
      null,
    ],
    [
      'an index without samples has no media data',
      { chunks: [], runs: [], sizes: [] },
      'the container has no media data yet',
    ],
  ])('%s', async (_, change, expected) => {
    const movie = indexOf({ ...track, chunks: [start, start + 100], ...change });
    const size = change.sizes === undefined || change.sizes.length === 0 ? 200 : 160;
    expect((await flawOf(Buffer.concat([box('ftyp', 16), movie, inside('mdat', Buffer.alloc(size))]))).flaw).toBe(
      expected,
    );
  });

  test('hostile numbers in it neither throw nor read more than three megabytes', async () => {
    const where = fc.nat(index.length - 1);
    const value = fc.constantFrom('ffffffff', '7fffffff', '00000000', '00000001', '80000000');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(where, value), { maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, hex] of changes) bytes.write(hex, 24 + at, 'hex');
        expect((await flawOf(bytes)).readBytes).toBeLessThan(3 * 1024 * 1024);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('Matroska and WebM', () => {
  const ebml = Buffer.from('1a45dfa384428100ff', 'hex');
  const segment = (size: string) => Buffer.from(`18538067${size}`, 'hex');
  test.each<[string, Buffer[], string | null]>([
    ['segment of known size', [ebml, segment('8a'), Buffer.alloc(10)], null],
    ['segment of unknown size', [ebml, segment('01ffffffffffffff'), Buffer.alloc(3)], null],
    ['segment of unknown size in one byte', [ebml, segment('ff'), Buffer.alloc(3)], null],
    ['a void element before the segment', [ebml, Buffer.from('ec820000', 'hex'), segment('81'), Buffer.alloc(1)], null],
    ['segment cut', [ebml, segment('8a'), Buffer.alloc(7)], 'the container says 3 bytes are missing'],
    [
      '8-byte size cut',
      [ebml, segment('0100000000001000'), Buffer.alloc(0x0f00)],
      'the container says 256 bytes are missing',
    ],
    ['header only', [ebml], 'the container ends before its first segment'],
    ['header cut', [Buffer.from('1a45dfa3a3', 'hex')], 'the container says 35 bytes are missing'],
    ['size with no length', [Buffer.from('1a45dfa300000000000000000000000000', 'hex')], null],
    ['another element than a segment', [ebml, Buffer.from('42868101aaaaaaaaaaaaaaaa', 'hex')], null],
  ])('%s', async (_, parts, expected) => {
    expect((await flawOf(Buffer.concat(parts))).flaw).toBe(expected);
  });

  test('endless void elements cost a bounded number of reads', async () => {
    const { flaw, reads } = await flawOf(Buffer.concat([ebml, Buffer.alloc(200_000, Buffer.from('ec80', 'hex'))]));
    expect(flaw).toBeNull();
    expect(reads).toBeLessThan(100);
  });
});

describe('anything', () => {
  test.each(['', 'x', 'ID3', 'RIFF\0\0\0\0ACON', '\0\0\0\x18', '#!/bin/sh'])(
    '%j is not ours to judge',
    async (text) => {
      expect((await flawOf(Buffer.from(text, 'latin1'))).flaw).toBeNull();
    },
  );

  test('hostile bytes behind a familiar beginning neither throw nor read without end', async () => {
    const beginning = fc.constantFrom(
      '',
      '0000001066747970',
      '1a45dfa3',
      '000000016d646174',
      '18538067',
      '494433040000000000',
      '52494646ff00000057415645',
      '52463634ffffffff57415645',
      '664c6143',
      '664c614380000022',
      // A FLAC file of one sample in frames of one, and so many beginnings of its last frame.
      `664c6143800000220001000100000000000000000bb800f000000001${'00'.repeat(14)}${'fff8691000bf'.repeat(50)}`,
      '060e2b34020501010d0102010102020083000030',
      '060e2b34020501010d01020101020400830000ff000100030000',
      '47'.repeat(1024),
    );
    await fc.assert(
      fc.asyncProperty(beginning, fc.uint8Array({ maxLength: 200 }), fc.nat(2 ** 31), async (hex, tail, extra) => {
        const bytes = Buffer.concat([Buffer.from(hex, 'hex'), tail]);
        const { flaw, reads, readBytes } = await flawOf(bytes, bytes.length + extra);
        expect(reads).toBeLessThan(5000);
        expect(readBytes).toBeLessThan(3 * 1024 * 1024);
        expect(flaw === null || flaw.length > 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
