import { describe, expect, test } from 'vitest';
import { flawOf } from './flaw-of.ts';
import { avi, avix, oddWav, rf64, wav } from '../sandbox/media/samples.ts';

const stillRecorded =
  'the container states no length: the file is still being recorded, its recording was interrupted, or it was written through a pipe';

function chunk(type: string, content: Buffer, length = content.length): Buffer {
  const header = Buffer.alloc(8);
  header.write(type, 'latin1');
  header.writeUInt32LE(length, 4);
  return Buffer.concat([header, content]);
}

function wave(form: string, length: number, ...chunks: Buffer[]): Buffer {
  return chunk(form, Buffer.concat([Buffer.from('WAVE'), ...chunks]), length);
}

/** Lengths of the whole and of the samples, and what else is in it. */
function ds64(samples: bigint): Buffer {
  const content = Buffer.alloc(28);
  content.writeBigUInt64LE(samples, 8);
  return chunk('ds64', content);
}

const format = chunk('fmt ', Buffer.alloc(16));
const samples = chunk('data', Buffer.alloc(100));

test.each<[string, Buffer, string | null]>([
  ['of known lengths is sound', wave('RIFF', 136, format, samples), null],
  ['with a tag behind the samples is sound', wave('RIFF', 148, format, samples, chunk('id3 ', Buffer.alloc(4))), null],
  ['whose writer counted its header too is sound', wave('RIFF', 144, format, samples), null],
  ['of less than its length is cut', wave('RIFF', 164, format, samples), 'the container says 28 bytes are missing'],
  ['without a length is still recorded', wave('RIFF', 0, format, samples), stillRecorded],
  ['that came through a pipe is taken for one', wave('RIFF', 0xffffffff, format, samples), stillRecorded],
  ['without samples yet', wave('RIFF', 136, format, chunk('data', Buffer.alloc(100), 0)), stillRecorded],
  ['with room for a long length is sound', wave('RIFF', 172, chunk('JUNK', Buffer.alloc(28)), format, samples), null],
  ['that ends before its samples', wave('RIFF', 28, format), 'the container ends before its samples'],
  [
    'of odd chunks is sound',
    wave('RIFF', 148, format, chunk('LIST', Buffer.alloc(4), 3), chunk('data', Buffer.alloc(99))),
    null,
  ],
])('a WAV file %s', async (_name, bytes, expected) => {
  expect((await flawOf(bytes)).flaw).toBe(expected);
});

test.each<[string, bigint, number, string | null]>([
  ['of known length is sound', 5_000_000_000n, 5_000_000_080, null],
  ['that is cut is flawed', 5_000_000_000n, 4_999_999_980, 'the container says 100 bytes are missing'],
  ['without a length is still recorded', 0n, 5_000_000_080, stillRecorded],
])('an RF64 file %s', async (_name, length, size, expected) => {
  const bytes = wave('RF64', 0xffffffff, ds64(length), format, chunk('data', Buffer.alloc(0), 0xffffffff));
  expect(bytes.length).toBe(80);
  expect((await flawOf(bytes, size)).flaw).toBe(expected);
});

const partitionKey = '060e2b34020501010d01020101';
const endless = Buffer.from('060e2b34010201010d01030115010500', 'hex');

function piece(key: Buffer, value: Buffer, length = value.length): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(0x8300_0000 + length);
  return Buffer.concat([key, bytes, value]);
}

function partition(kind: number, footerAt: number): Buffer {
  const value = Buffer.alloc(88);
  value.writeBigUInt64BE(BigInt(footerAt), 24);
  return piece(Buffer.from(`${partitionKey}0${kind}0400`, 'hex'), value);
}

const essence = piece(endless, Buffer.alloc(500));
const footerAt = 108 + essence.length;
const index = piece(Buffer.from(`${partitionKey}110100`, 'hex'), Buffer.alloc(28));
const noEnd = 'the container has no end (footer partition) yet';

describe('an MXF file', () => {
  test.each<[string, Buffer[], string | null]>([
    ['that is closed is sound', [partition(2, footerAt), essence, partition(4, footerAt), index], null],
    ['without the optional index is sound', [partition(2, footerAt), essence, partition(4, footerAt)], null],
    [
      'whose writer could not go back is sound',
      [partition(2, 0), essence, partition(4, footerAt), index, Buffer.alloc(4)],
      null,
    ],
    ['that still grows has no end', [partition(2, 0), essence], noEnd],
    ['with room reserved but not written has no end', [partition(2, 0), essence, Buffer.alloc(9000)], noEnd],
    ['that ends before its footer', [partition(2, footerAt), essence], 'the container says 25 bytes are missing'],
    [
      'whose index is cut',
      [partition(2, footerAt), essence, partition(4, footerAt), index.subarray(0, 40)],
      'the container says 8 bytes are missing',
    ],
    ['with a footer elsewhere is not ours to judge', [partition(2, 120), essence, partition(4, footerAt)], null],
  ])('%s', async (_name, parts, expected) => {
    expect((await flawOf(Buffer.concat(parts))).flaw).toBe(expected);
  });
});

describe('an MPEG transport stream', () => {
  const packets = (count: number): Buffer =>
    Buffer.alloc(188 * count, Buffer.concat([Buffer.from('G'), Buffer.alloc(187)]));

  test.each<[string, Buffer, string | null]>([
    ['of whole packets is sound', packets(9), null],
    [
      'whose last packet is cut',
      packets(9).subarray(0, -1),
      'the container ends in the middle of a packet (187 of 188 bytes)',
    ],
    ['with stray bytes is sound', Buffer.concat([packets(9), Buffer.from('four')]), null],
    [
      'whose packets slipped is not ours to judge',
      Buffer.concat([packets(9), Buffer.of(1), packets(9).subarray(0, -9)]),
      null,
    ],
    ['with room reserved but not written is not ours to judge', Buffer.concat([packets(9), Buffer.alloc(9000)]), null],
    ['of four packets is too little to judge', packets(4).subarray(0, -9), null],
  ])('%s', async (_name, bytes, expected) => {
    expect((await flawOf(bytes)).flaw).toBe(expected);
  });
});

const endOf = async (bytes: Buffer) => (await flawOf(bytes)).end;

/** With other sizes of the whole and of the data. */
function sized(wave: Buffer, whole: number, data: number): Buffer {
  const bytes = Buffer.from(wave);
  bytes.writeUInt32LE(whole, 4);
  bytes.writeUInt32LE(data, 40);
  return bytes;
}

const STRAY = Buffer.from('junk');

describe('the end of a file of chunks', () => {
  const films = Buffer.concat([avi({ frames: 3, framesPerSecond: 25 }), avix()]);
  test.each<[string, Buffer]>([
    ['a WAV', wav(1)],
    ['a WAV with an odd number of bytes', oddWav()],
    ['one without the byte of padding', sized(oddWav().subarray(0, -1), 36 + 15_999, 15_999)],
    ['an RF64', rf64(wav(1))],
    ['an AVI of two RIFFs', films],
  ])('%s is before stray bytes', async (_name, bytes) => {
    expect(await endOf(bytes)).toBe(bytes.length);
    expect(await endOf(Buffer.concat([bytes, STRAY]))).toBe(bytes.length);
  });

  test.each<[string, Buffer]>([
    ['states no size and no data', sized(wav(1), 0, 0)],
    ['states a header and no data', sized(wav(1), 36, 0)],
    ['states less than its data', sized(wav(1), 100, 16_000)],
    ['states more than its data', sized(wav(1), 16_037, 16_000)],
    ['states the largest sizes', sized(wav(1), 0xff_ff_ff_ff, 0xff_ff_ff_ff)],
    ['is cut off', wav(1).subarray(0, -1)],
    ['is cut off in its header', wav(1).subarray(0, 20)],
    ['states sizes beyond all numbers', rf64(wav(1)).fill(0xff, 20, 36)],
  ])('a WAV that %s is read to its end', async (_name, bytes) => {
    expect(await endOf(bytes)).toBe(bytes.length);
  });
});
