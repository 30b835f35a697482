import { durationOf, endOf } from '@dropcast/media';
import { describe, expect, test } from 'vitest';
import { flawOf } from './flaw-of.ts';

function box(type: string, ...content: (Buffer | number)[]): Buffer {
  const body = Buffer.concat(
    content.map((part) => {
      if (typeof part !== 'number') return part;
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(part);
      return bytes;
    }),
  );
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

const SCALE = 1000;
const FRAGMENT_BYTES = 4 * 1024 * 1024;
const FRAGMENT_UNITS = 2000;

interface MovieOptions {
  /** In units; 0: not known. */
  readonly own?: number;
  readonly stated?: number;
  readonly isFragmented?: boolean;
}

function movie({ own = 0, stated, isFragmented = true }: MovieOptions = {}): Buffer {
  const header = box('mvhd', 0, 0, 0, SCALE, own, Buffer.alloc(80));
  const media = box('mdia', box('mdhd', 0, 0, 0, SCALE, 0, 0), box('minf', box('stbl', box('stsd', 0, 0))));
  const track = box('trak', box('tkhd', 7, 0, 0, 1, 0, 0), media);
  const extension = box(
    'mvex',
    ...(stated === undefined ? [] : [box('mehd', 0, stated)]),
    box('trex', 0, 1, 1, 100, 0, 0),
  );
  return box('moov', header, track, ...(isFragmented ? [extension] : []));
}

/** A fragment of 20 samples without its data, whose box is last. */
function fragment(startUnits: number, dataBytes = FRAGMENT_BYTES): Buffer {
  const run = (offset: number) => box('trun', 0x201, 20, offset, ...Array.from({ length: 20 }, () => dataBytes / 32));
  const moof = (offset: number) =>
    box('moof', box('mfhd', 0, 1), box('traf', box('tfhd', 0x20000, 1), box('tfdt', 0, startUnits), run(offset)));
  const data = Buffer.alloc(8);
  data.writeUInt32BE(8 + dataBytes);
  data.write('mdat', 4, 'latin1');
  return Buffer.concat([moof(moof(0).length + 8), data]);
}

interface Sparse {
  readonly pieces: readonly { readonly at: number; readonly bytes: Buffer }[];
  readonly size: number;
}

/** Reads a file of which only some bytes are there, the rest as zeros of a hole. */
function reading({ pieces, size }: Sparse) {
  const counts = { reads: 0, bytes: 0 };
  const readAt = async (position: number, length: number): Promise<Buffer> => {
    counts.reads += 1;
    const out = Buffer.alloc(Math.max(0, Math.min(length, size - position)), 1);
    counts.bytes += out.length;
    for (const { at, bytes } of pieces)
      if (at < position + out.length && position < at + bytes.length)
        bytes.copy(out, Math.max(0, at - position), Math.max(0, position - at));
    return out;
  };
  return { counts, readAt };
}

type Ending = 'mfra' | 'sidx' | 'nothing';

/** A recording of 20 GB in fragments of 4 MB. */
function recording(ending: Ending, count = 5120, startUnits = 0): Sparse {
  const pieces: { at: number; bytes: Buffer }[] = [];
  const add = (bytes: Buffer, length = bytes.length) => {
    pieces.push({ at: size, bytes });
    size += length;
  };
  let size = 0;
  add(box('ftyp', Buffer.alloc(8)));
  add(movie());
  const one = fragment(0).length + FRAGMENT_BYTES;
  const sizes = Array.from({ length: count }, () => [one, FRAGMENT_UNITS, 0]).flat();
  if (ending === 'sidx') add(box('sidx', 0, 1, SCALE, 0, 0, count, ...sizes));
  let lastAt = 0;
  for (let index = 0; index < count; index += 1) {
    lastAt = size;
    add(fragment(startUnits + index * FRAGMENT_UNITS), one);
  }
  if (ending === 'mfra') {
    const offset = Buffer.alloc(16);
    offset.writeBigUInt64BE(BigInt(lastAt), 8);
    const table = box('tfra', 0x01000000, 1, 0, 1, offset, Buffer.of(1, 1, 1));
    const tableBytes = 8 + table.length + 16;
    add(box('mfra', table, box('mfro', 0, tableBytes)));
  }
  return { pieces, size };
}

describe('a fragmented MP4 of 20 GB', () => {
  test.each<Ending>(['mfra', 'sidx', 'nothing'])(
    'that ends with %s is judged with at most 100 reads',
    async (ending) => {
      const { pieces, size } = recording(ending);
      expect(size).toBeGreaterThan(20e9);
      const judge = async (cutBytes: number) => {
        const { counts, readAt } = reading({ pieces, size: size - cutBytes });
        const { flaw } = await endOf(readAt, size - cutBytes);
        expect(counts.reads).toBeLessThanOrEqual(100);
        expect(counts.bytes).toBeLessThan(11 * 1024 * 1024);
        return flaw?.why ?? null;
      };
      expect(await judge(0)).toBeNull();
      const tail = ending === 'mfra' ? (pieces.at(-1)?.bytes.length ?? 0) : 0;
      expect(await judge(tail + 1_000_000)).toBe('the container says 1,000,000 bytes are missing');
    },
  );

  test.each<Ending>(['mfra', 'sidx', 'nothing'])('that ends with %s says how long it plays', async (ending) => {
    for (const startUnits of [0, 90_000_000]) {
      const sparse = recording(ending, 5120, startUnits);
      const { counts, readAt } = reading(sparse);
      expect(await durationOf(readAt, sparse.size)).toBe((5120 * FRAGMENT_UNITS) / SCALE);
      expect(counts.reads).toBeLessThanOrEqual(100);
    }
  });
});

describe('the duration of a fragmented movie', () => {
  const seconds = (...parts: Buffer[]) => {
    const bytes = Buffer.concat([box('ftyp', Buffer.alloc(8)), ...parts]);
    return durationOf(async (position, length) => bytes.subarray(position, position + length), bytes.length);
  };
  const whole = (startUnits: number) => Buffer.concat([fragment(startUnits, 640), Buffer.alloc(640)]);

  test('is that of all fragments, not that of the movie in front of them', async () => {
    expect(await seconds(movie({ own: 1024 }), whole(0), whole(2000), whole(4000))).toBe(6);
  });

  test('is what the writer states where the fragments do not say', async () => {
    expect(await seconds(movie({ own: 1024, stated: 9000 }), box('moof', box('mfhd', 0, 1)), box('mdat'))).toBe(9);
    expect(await seconds(movie({ own: 1024 }), box('moof', box('mfhd', 0, 1)), box('mdat'))).toBeNull();
  });

  test('is that of the movie where it is not fragmented', async () => {
    expect(await seconds(movie({ own: 3000, isFragmented: false }), box('mdat'))).toBe(3);
  });
});

describe('a first box that is none of a movie', () => {
  const cut = (type: string, content = 16) =>
    Buffer.concat([box(type, Buffer.alloc(content)), Buffer.from('000186a06d646174', 'hex'), Buffer.alloc(100)]);

  test.each(['uuid', 'junk', 'meta', 'abcd', '\xa9xyz'])('%s does not switch the check off', async (type) => {
    const bytes = cut(type);
    expect((await flawOf(bytes)).flaw).toBe('the container says 99,892 bytes are missing');
  });

  test('that is alone and cut is missed too', async () => {
    expect((await flawOf(box('uuid', Buffer.alloc(100)).subarray(0, 60))).flaw).toBe(
      'the container says 48 bytes are missing',
    );
  });
});

describe('an mdat that claims too much', () => {
  /** Two samples of 50 bytes in one chunk, behind the index. */
  function file(sizes: readonly number[], claims: number): Buffer {
    const movieOf = (at: number) => {
      const isEqual = sizes.every((size) => size === sizes[0]);
      const table = box(
        'stbl',
        box('stsd', 0, 1, box('avc1', Buffer.alloc(20))),
        box('stsc', 0, 1, 1, sizes.length, 1),
        isEqual ? box('stsz', 0, sizes[0] ?? 0, sizes.length) : box('stsz', 0, 0, sizes.length, ...sizes),
        box('stco', 0, 1, at),
      );
      const track = box('trak', box('tkhd', 7, 0, 0, 1, 0, 0), box('mdia', box('minf', table)));
      return box('moov', box('mvhd', Buffer.alloc(100)), track);
    };
    const start = box('ftyp', Buffer.alloc(8));
    const index = movieOf(start.length + movieOf(0).length + 8);
    const data = box('mdat', Buffer.alloc(100, 7));
    data.writeUInt32BE(108 + claims, 0);
    return Buffer.concat([start, index, data]);
  }

  test.each([
    ['of different sizes', [40, 60]],
    ['of one size', [50, 50]],
  ])('plays if every sample is there, %s', async (_name, sizes) => {
    expect(await flawOf(file(sizes, 8))).toMatchObject({ flaw: 'the container says 8 bytes are missing', is: 'small' });
    expect((await flawOf(file(sizes, 0))).flaw).toBeNull();
  });

  test.each([
    ['of different sizes', [40, 60]],
    ['of one size', [50, 50]],
  ])('misses bytes if a sample is cut, %s', async (_name, sizes) => {
    expect(await flawOf(file(sizes, 8).subarray(0, -1))).toMatchObject({ is: 'missing' });
  });
});
