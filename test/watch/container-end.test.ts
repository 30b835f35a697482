import { describe, expect, test } from 'vitest';
import { avi, avix, oddWav, rf64, wav } from '../sandbox/media/samples.ts';
import { flawOf } from './flaw-of.ts';

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
