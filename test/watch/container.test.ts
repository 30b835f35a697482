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

const COMPLETE = [box('ftyp', 16), box('moov', 100), box('mdat', 500)];
/** The four letters as a length: 0x6a756e6b. */
const JUNK = 'the container says 1,786,080,867 bytes are missing';
const NO_INDEX = 'the container has no index (moov) yet';

describe('MP4 and QuickTime', () => {
  test.each<[string, Buffer[], string | null]>([
    ['index first', [box('ftyp', 16), box('moov', 100), box('mdat', 500)], null],
    ['index last', [box('ftyp', 16), box('mdat', 500), box('moov', 100)], null],
    ['old QuickTime', [box('wide'), box('mdat', 500), box('moov', 100)], null],
    ['64-bit length', [box('ftyp', 16), largeBox('mdat', 516n, 500), box('moov', 9)], null],
    ['media data up to the end of the file', [box('ftyp', 16), box('moov', 10), box('mdat', 900, 0)], null],
    ['fragments', [box('ftyp', 16), box('moov', 10), box('moof', 10), box('mdat', 99)], null],
    ['zeros behind the index', [box('ftyp', 16), box('moov', 10), Buffer.alloc(64)], null],
    ['four bytes behind the index', [box('ftyp', 16), box('moov', 10), Buffer.alloc(4)], null],
    ['zeros behind a complete file', [...COMPLETE, Buffer.alloc(5000)], null],
    ['text behind a complete file', [...COMPLETE, Buffer.from('junkjunkjunk')], null],
    ['a tag behind a complete file', [...COMPLETE, Buffer.from('TAGMy title'.padEnd(128, '\0'))], null],
    ['seven bytes that begin a box', [...COMPLETE, box('moof', 10, 500).subarray(0, 7)], null],
    ['text behind an index without media data', [box('ftyp', 16), box('moov', 10), Buffer.from('junkjunk')], JUNK],
    ['text behind media data without an index', [box('ftyp', 16), box('mdat', 10), Buffer.from('junkjunk')], JUNK],
    ['a second mdat cut', [...COMPLETE, box('mdat', 2, 1242)], 'the container says 1,232 bytes are missing'],
    ['a fragment cut', [...COMPLETE, box('moof', 2, 1242)], 'the container says 1,232 bytes are missing'],
    ['free space cut', [...COMPLETE, box('free', 0, 9)], 'the container says 1 byte is missing'],
    ['a still image', [box('ftyp', 16), box('meta', 10), box('mdat', 10)], null],
    ['a segment of a stream', [box('styp', 16), box('moof', 10), box('mdat', 10, 5000)], null],
    ['a QuickTime user box', [box('ftyp', 16), box('moov', 10), box('\u00a9xyz', 10)], null],
    ['no index', [box('ftyp', 16), box('mdat', 500)], NO_INDEX],
    ['no index, media data up to the end', [box('ftyp', 16), box('mdat', 500, 0)], NO_INDEX],
    ['only a start', [box('ftyp', 16)], NO_INDEX],
    ['preallocated, the index not yet written', [box('ftyp', 16), box('mdat', 500), Buffer.alloc(100)], NO_INDEX],
    [
      'media data cut',
      [box('ftyp', 16), box('moov', 10), box('mdat', 10, 1252)],
      'the container says 1,234 bytes are missing',
    ],
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
    ['a length smaller than its header', [box('ftyp', 16), box('mdat', 0, 7)], null],
    ['a 64-bit length of 0', [box('ftyp', 16), largeBox('mdat', 0n)], null],
    ['a 64-bit length of 1', [box('ftyp', 16), largeBox('mdat', 1n)], null],
    ['garbage after the first box', [box('ftyp', 16), Buffer.from('ffffffff01020304ffffffff', 'hex')], null],
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

  test('a file of 2^40 bytes is judged by its boxes alone', async () => {
    const start = Buffer.concat([box('ftyp', 16), box('moov', 10), largeBox('mdat', 2n ** 40n)]);
    expect((await flawOf(start, 2 ** 40)).flaw).toContain('42 bytes');
    expect((await flawOf(start, 2 ** 40 + 42)).flaw).toBeNull();
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
  test.each(['', 'x', 'ID3', 'RIFF\0\0\0\0AVI ', '\0\0\0\x18', '#!/bin/sh'])(
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
