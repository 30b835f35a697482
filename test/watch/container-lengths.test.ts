import { describe, expect, test } from 'vitest';
import { flawOf } from './flaw-of.ts';

const noLength =
  'the container states no length: the file is still being recorded, its recording was interrupted, or it was written through a pipe';
const missing = (bytes: string) => `the container says ${bytes} ${bytes === '1' ? 'byte is' : 'bytes are'} missing`;

function chunk(type: string, content: Buffer, length = content.length): Buffer {
  const header = Buffer.alloc(8);
  header.write(type, 'latin1');
  header.writeUInt32LE(length, 4);
  return Buffer.concat([header, content]);
}

/** The same in the other order of bytes, as AIFF has it. */
function bigChunk(type: string, content: Buffer, length = content.length): Buffer {
  const bytes = chunk(type, content);
  bytes.writeUInt32BE(length, 4);
  return bytes;
}

const text = (letters: string) => Buffer.from(letters, 'latin1');

/** A WAV of 1,600 bytes of sound that states these lengths. */
function wave(riff: number, data: number, form = 'RIFF', before: Buffer = Buffer.alloc(0)): Buffer {
  const format = chunk('fmt ', Buffer.from('0100010044ac000088580100020010 00'.replaceAll(' ', ''), 'hex'));
  return chunk(form, Buffer.concat([text('WAVE'), before, format, chunk('data', Buffer.alloc(1600), data)]), riff);
}

describe('a WAV that was written through a pipe', () => {
  test.each<[string, number, number]>([
    ['ffmpeg', 0xffffffff, 0xffffffff],
    ['SoX', 0x7ffff024, 0x7ffff000],
    ['GStreamer', 0x7fff0024, 0x7fff0000],
    ['speech services (the largest number)', 0x7fffffff, 0x7fffffff],
    ['speech services (the largest number, less a header)', 0x7fffffff, 0x7fffffdb],
    ['speech services (all ones, less headers)', 0xffffffbf, 0xffffff9b],
    ['speech services (a round number)', 2_000_000_036, 2_000_000_000],
    ['a tool with a round number of its own', 1_000_000_036, 1_000_000_000],
    ['a tool with half of all numbers', 0x80000024, 0x80000000],
    ['a tool that only knows the samples', 1636, 0xffffffff],
    ['a tool that leaves zeros', 0, 0],
  ])('by %s states no length', async (_name, riff, data) => {
    expect(await flawOf(wave(riff, data))).toMatchObject({ flaw: noLength, is: 'no length' });
  });

  test.each<[string, bigint, bigint]>([
    ['zeros', 0n, 0n],
    ['all ones', 2n ** 64n - 1n, 2n ** 64n - 1n],
    ['the largest number', 2n ** 63n - 1n, 2n ** 63n - 1n],
  ])('as RF64 with %s states no length', async (_name, riff, data) => {
    const sizes = Buffer.alloc(28);
    sizes.writeBigUInt64LE(riff, 0);
    sizes.writeBigUInt64LE(data, 8);
    expect((await flawOf(wave(0xffffffff, 0xffffffff, 'RF64', chunk('ds64', sizes)))).flaw).toBe(noLength);
    expect((await flawOf(wave(0xffffffff, 0xffffffff, 'RF64'))).flaw).toBe(noLength);
  });

  test.each<[string, number, number]>([
    ['a recording of half an hour', 317_520_036, 317_520_000],
    ['a recording of nearly two gigabytes', 2_146_421_189, 2_146_421_153],
  ])('%s that is cut is not mistaken for one', async (_name, riff, data) => {
    expect((await flawOf(wave(riff, data))).flaw).toBe(missing((riff - 1636).toLocaleString('en-US')));
  });

  test('nor is one of two gigabytes of which most is there', async () => {
    expect((await flawOf(wave(0x7ffff024, 0x7ffff000), 0x7fff0000)).flaw).toMatch(/bytes are missing$/);
  });
});

test('a WAV without a sample that is whole passes after a quiet time', async () => {
  const empty = (data: number, size = 44) => flawOf(wave(36, data).subarray(0, size));
  expect(await empty(0)).toMatchObject({ flaw: 'the container has no samples', is: 'small' });
  expect((await empty(0, 400)).flaw).toBe(noLength);
});

describe('an AVI', () => {
  const movie = (bytes: number, length = bytes + 4) =>
    chunk('LIST', Buffer.concat([text('movi'), Buffer.alloc(bytes)]), length);
  const avi = (type: string, bytes: number, length?: number) =>
    chunk('RIFF', Buffer.concat([text(type), movie(bytes)]), length);
  const first = avi('AVI ', 500);

  test.each<[string, Buffer, string | null]>([
    ['that is whole is sound', first, null],
    ['that continues in a second part is sound', Buffer.concat([first, avi('AVIX', 300)]), null],
    ['with stray bytes is sound', Buffer.concat([first, Buffer.alloc(9)]), null],
    ['that is cut misses bytes', first.subarray(0, -100), missing('100')],
    ['whose second part is cut misses bytes', Buffer.concat([first, avi('AVIX', 300)]).subarray(0, -50), missing('50')],
    ['whose writer has not come back states no length', avi('AVI ', 500, 0), noLength],
    ['that came through a pipe states no length', avi('AVI ', 500, 0xffffffff), noLength],
    ['whose second part is still written states no length', Buffer.concat([first, avi('AVIX', 300, 0)]), noLength],
    [
      'whose third part is cut misses bytes',
      Buffer.concat([first, avi('AVIX', 8), avi('AVIX', 8, 900)]),
      missing('876'),
    ],
  ])('%s', async (_name, bytes, expected) => {
    expect((await flawOf(bytes)).flaw).toBe(expected);
  });

  test('of a terabyte in parts of a gigabyte costs a bounded number of reads', async () => {
    const { reads } = await flawOf(Buffer.concat(Array.from({ length: 20_000 }, () => avi('AVIX', 4)).with(0, first)));
    expect(reads).toBeLessThan(600);
  });
});

describe('an AIFF', () => {
  const common = bigChunk('COMM', Buffer.from(`0001000000c80010400eac44${'00'.repeat(6)}`, 'hex'));
  const sound = bigChunk('SSND', Buffer.alloc(408));
  const aiff = (length?: number, ...chunks: Buffer[]) =>
    bigChunk('FORM', Buffer.concat([text('AIFF'), common, ...(chunks.length === 0 ? [sound] : chunks)]), length);

  test.each<[string, Buffer, string | null]>([
    ['that is whole is sound', aiff(), null],
    ['with a comment is sound', aiff(undefined, bigChunk('COMT', Buffer.alloc(10)), sound), null],
    ['that is cut misses bytes', aiff().subarray(0, -200), missing('200')],
    ['that SoX wrote through a pipe states no length', aiff(0x7f00002e), noLength],
    ['that is still written states no length', aiff(0), noLength],
  ])('%s', async (_name, bytes, expected) => {
    expect((await flawOf(bytes)).flaw).toBe(expected);
  });
});

describe('an ASF (WMV, WMA)', () => {
  const id = (hex: string) => Buffer.from(hex, 'hex');
  const object = (hex: string, content: Buffer, length = content.length + 24) => {
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(length));
    return Buffer.concat([id(hex), size, content]);
  };
  /** A header, 500 bytes of packets, and an index of 100. */
  function asf({ stated = 0, flags = 2 }: { stated?: number; flags?: number }): Buffer {
    const properties = Buffer.alloc(80);
    properties.writeBigUInt64LE(BigInt(stated), 16);
    properties.writeUInt32LE(flags, 64);
    const inner = object('a1dcab8c47a9cf118ee400c00c205365', properties);
    const header = object('3026b2758e66cf11a6d900aa0062ce6c', Buffer.concat([Buffer.alloc(6), inner]));
    const data = object('3626b2758e66cf11a6d900aa0062ce6c', Buffer.alloc(500));
    return Buffer.concat([header, data, object('90080033b1e5cf1189f400a0c90349cb', Buffer.alloc(100))]);
  }
  const { length } = asf({});

  test.each<[string, Buffer, string | null, string | null]>([
    ['that is whole is sound', asf({ stated: length }), null, null],
    ['that is cut misses bytes', asf({ stated: length }).subarray(0, -300), missing('300'), 'missing'],
    ['that states no length is sound', asf({}), null, null],
    ['whose packets are cut misses bytes', asf({}).subarray(0, -300), missing('176'), 'missing'],
    ['of a broadcast states nothing', asf({ stated: length, flags: 1 }).subarray(0, -300), null, null],
    ['of which the index is cut plays', asf({ stated: length }).subarray(0, -30), missing('30'), 'small'],
    ['cut in its header misses bytes', asf({}).subarray(0, 60), missing('74'), 'missing'],
  ])('%s', async (_name, bytes, flaw, is) => {
    expect(await flawOf(bytes)).toMatchObject({ flaw, is });
  });
});

describe('an FLV', () => {
  function tag(type: number, content: Buffer): Buffer {
    const bytes = Buffer.alloc(11 + content.length + 4);
    bytes[0] = type;
    bytes.writeUIntBE(content.length, 1, 3);
    content.copy(bytes, 11);
    bytes.writeUInt32BE(11 + content.length, 11 + content.length);
    return bytes;
  }
  function flv(stated?: number): Buffer {
    const number = Buffer.alloc(8);
    number.writeDoubleBE(stated ?? 0);
    const about = Buffer.concat([text('\x02\0\x0aonMetaData\x08\0\0\0\x01\0\x08filesize\0'), number, text('\0\0\x09')]);
    const head = Buffer.from('464c5601050000000900000000', 'hex');
    return Buffer.concat([head, ...(stated === undefined ? [] : [tag(18, about)]), tag(9, Buffer.alloc(300, 7))]);
  }
  const { length } = flv(0);

  test.each<[string, Buffer, string | null, string | null]>([
    ['that is whole is sound', flv(length), null, null],
    ['that is cut misses bytes', flv(length).subarray(0, -100), missing('100'), 'missing'],
    ['without a length is sound', flv(), null, null],
    ['with a length of 0 is sound', flv(0), null, null],
    [
      'whose last tag is cut plays',
      flv().subarray(0, -100),
      'the container ends in the middle of its last tag',
      'small',
    ],
  ])('%s', async (_name, bytes, flaw, is) => {
    expect(await flawOf(bytes)).toMatchObject({ flaw, is });
  });
});

test('an MP3 that states more bytes than it has is only suspected', async () => {
  const frame = Buffer.alloc(417);
  frame.write('fffb9064', 'hex');
  frame.write('Info', 36, 'latin1');
  frame.writeUInt32BE(3, 40);
  frame.writeUInt32BE(4170, 48);
  const mp3 = Buffer.concat([frame, Buffer.alloc(3753, 1)]);
  const tagged = (bytes: Buffer) =>
    Buffer.concat([Buffer.from('4944330300000000000a', 'hex'), Buffer.alloc(10), bytes]);
  for (const form of [(bytes: Buffer) => bytes, tagged]) {
    expect((await flawOf(form(mp3))).flaw).toBeNull();
    expect(await flawOf(form(mp3.subarray(0, -1000)))).toMatchObject({ flaw: missing('1,000'), is: 'hint' });
  }
});

describe('what is no media file is known by its beginning', () => {
  test.each<[string, string | Buffer]>([
    ['this is a web page, not a video', '<!DOCTYPE html>\n<html><head><title>Log in</title></head></html>'],
    ['this is a web page, not a video', '\ufeff\n  <html lang="en"><body>Wi-Fi log-in</body>'],
    ['this is a web page, not a video', '<!-- saved from url -->\n<!doctype HTML><p>'],
    ['this is an XML document, not a video', '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'],
    ['this is a JSON document, not a video', '{"error":{"code":"not_found"}}'],
    ['this is plain text, not a video', "import { readFile } from 'node:fs/promises';\n\nexport const one = 1;\n"],
    ['this is plain text, not a video', 'Grüße aus Köln,\r\nund ein Komma.\r\n'],
    ['this is plain text, not a video', Buffer.from('\ufeffnotes of the day\r\n', 'utf16le')],
    ['this is an archive or document (ZIP), not a video', 'PK\x03\x04\x14\0\0\0\x08\0 and what is in it'],
    ['this is an archive (RAR), not a video', 'Rar!\x1a\x07\x01\0'],
    ['this is an archive (tar), not a video', `${'clip.mp4'.padEnd(257, '\0')}ustar\0`],
    ['this is a compressed file (gzip), not a video', Buffer.from('1f8b0800000000000003', 'hex')],
    ['this is a document (PDF), not a video', '%PDF-1.7\n%\xe2\xe3'],
    ['this is an encrypted file (OpenSSL), not a video', 'Salted__\x01\x02\x03'],
  ])('%s', async (flaw, content) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    expect(await flawOf(bytes)).toMatchObject({ flaw, is: 'no media' });
  });

  test('also where the piece that is read ends in the middle of a letter', async () => {
    for (const shift of ['', 'x']) {
      const bytes = Buffer.from(`${shift}${'ü'.repeat(30)}\n`.repeat(400));
      expect((await flawOf(bytes)).flaw).toBe('this is plain text, not a video');
    }
  });

  test.each([
    ['a line without an end', 'content'],
    ['Y4M, which begins with a line of text', 'YUV4MPEG2 W720 H576 F25:1\nFRAME\n'],
    ['bytes of no known format', Buffer.from([0x00, 0x0a, 0xff, 0x20, 0x41])],
    ['a program stream', Buffer.from('000001ba440004000401', 'hex')],
  ])('%s is not judged', async (_name, content) => {
    expect((await flawOf(typeof content === 'string' ? Buffer.from(content) : content)).flaw).toBeNull();
  });
});
