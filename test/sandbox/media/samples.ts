/* Media files made here byte by byte, for what test/media/ has no sample of. */

/** 16-bit mono sound without a tone. */
export function wav(seconds: number): Buffer {
  const bytesPerSecond = 16_000;
  const data = bytesPerSecond * seconds;
  const bytes = Buffer.alloc(44 + data);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + data, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20); // PCM
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8000, 24);
  bytes.writeUInt32LE(bytesPerSecond, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(data, 40);
  return bytes;
}

/** 8-bit sound of an odd number of bytes, and the byte of padding behind them. */
export function oddWav(): Buffer {
  const bytes = wav(1);
  bytes.writeUInt16LE(8, 34);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt32LE(8000, 28);
  bytes.writeUInt32LE(bytes.length - 45, 40);
  return bytes;
}

/** The same sound with its sizes in 64 bits (EBU Tech 3306). */
export function rf64(wave: Buffer): Buffer {
  const sizes = Buffer.alloc(28);
  sizes.writeBigUInt64LE(BigInt(wave.length + 36 - 8), 0);
  sizes.writeBigUInt64LE(BigInt(wave.length - 44), 8);
  const bytes = Buffer.concat([wave.subarray(0, 12), chunk('ds64', sizes), wave.subarray(12)]);
  bytes.write('RF64', 0);
  bytes.writeUInt32LE(0xff_ff_ff_ff, 4);
  bytes.writeUInt32LE(0xff_ff_ff_ff, 40 + 36);
  return bytes;
}

/** In which an AVI above 1 GB goes on: here with one frame. */
export function avix(): Buffer {
  const movie = list('movi', chunk('00dc', Buffer.from('ffd8ffd9', 'hex')));
  return chunk('RIFF', Buffer.concat([Buffer.from('AVIX'), movie]));
}

/** A video of Motion JPEG frames without content. */
export function avi({ frames, framesPerSecond }: { frames: number; framesPerSecond: number }): Buffer {
  const main = Buffer.alloc(56);
  main.writeUInt32LE(1e6 / framesPerSecond, 0);
  main.writeUInt32LE(frames, 16);
  main.writeUInt32LE(1, 24);
  main.writeUInt32LE(320, 32);
  main.writeUInt32LE(180, 36);
  const stream = Buffer.alloc(56);
  stream.write('vidsMJPG', 0);
  stream.writeUInt32LE(1, 20);
  stream.writeUInt32LE(framesPerSecond, 24);
  stream.writeUInt32LE(frames, 32);
  const format = Buffer.alloc(40);
  format.writeUInt32LE(40, 0);
  format.writeUInt32LE(320, 4);
  format.writeUInt32LE(180, 8);
  format.writeUInt16LE(1, 12);
  format.writeUInt16LE(24, 14);
  format.write('MJPG', 16);
  const streamList = list('strl', chunk('strh', stream), chunk('strf', format));
  const pictures = Array.from({ length: frames }, () => chunk('00dc', Buffer.from('ffd8ffd9', 'hex')));
  return riff(list('hdrl', chunk('avih', main), streamList), list('movi', ...pictures));
}

/** Two seconds of silence, 8 kHz, in four frames: `sox -D -n -r 8000 -c 1 -b 16 --comment '' x.flac trim 0 2`. */
export const flac = Buffer.from(
  'ZkxhQwAAACIQABAAAAALAAANAfQA8AAAPoAiBUsPTuOrp+BUkP0J1XmdhAAAKCAAAAByZWZlcmVuY2UgbGliRkxBQyAxLjQuMiAyMDIyMTAyMgAAAAD/' +
    '+MQIAAQAAAD4VP/4xAgBAwAAAJQs//jECAIKAAAAIKT/+HQIAw5/hAAAAHzT',
  'base64',
);

/** A red square in AV1, in the boxes of MP4 but without a `moov`. */
export const avif = Buffer.from(
  'AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAAD5bWV0YQAAAAAAAAAvaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAFBpY3R1cmVIYW5k' +
    'bGVyAAAAAA5waXRtAAAAAAABAAAAHmlsb2MAAAAARAAAAQABAAAAAQAAASEAAAAdAAAAKGlpbmYAAAAAAAEAAAAaaW5mZQIAAAAAAQAAYXYwMUNvbG9y' +
    'AAAAAGppcHJwAAAAS2lwY28AAAAUaXNwZQAAAAAAAAAQAAAAEAAAABBwaXhpAAAAAAMICAgAAAAMYXYxQ4EADAAAAAATY29scm5jbHgAAgACAAIAAAAA' +
    'F2lwbWEAAAAAAAAAAQABBAECgwQAAAAlbWRhdAoGGAz/2wCAMhMYAAAAUAAAAACpjmy2qrHGtoVA',
  'base64',
);

/** The matrix of all tracks as a phone writes it that is held upright: shown a quarter turn to the right (ISO/IEC 14496-12 section 8.3.2). */
export function turned(mp4: Buffer): Buffer {
  const bytes = Buffer.from(mp4);
  for (let at = bytes.indexOf('tkhd'); at >= 0; at = bytes.indexOf('tkhd', at + 4)) {
    bytes.fill(0, at + 44, at + 80);
    bytes.writeInt32BE(0x1_00_00, at + 48);
    bytes.writeInt32BE(-0x1_00_00, at + 56);
    bytes.writeInt32BE(0x40_00_00_00, at + 76);
  }
  return bytes;
}

/** The same packets without the time stamps before each: 188 instead of 192 bytes. */
export function plainTransportStream(m2ts: Buffer): Buffer {
  const count = m2ts.length / 192;
  return Buffer.concat(Array.from({ length: count }, (_, index) => m2ts.subarray(index * 192 + 4, (index + 1) * 192)));
}

/** The MP3 with an ID3v2.3 tag that has this JPEG as its front cover, in place of the tag that it has. */
export function withCover(mp3: Buffer, jpeg: Buffer): Buffer {
  const oldTagBytes = 10 + mp3.subarray(6, 10).reduce((total, byte) => total * 128 + byte, 0);
  const body = Buffer.concat([Buffer.from('\0image/jpeg\0\x03\0', 'latin1'), jpeg]);
  const frame = Buffer.alloc(10);
  frame.write('APIC', 0);
  frame.writeUInt32BE(body.length, 4);
  const size = frame.length + body.length;
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, size >> 21, (size >> 14) & 127, (size >> 7) & 127, size & 127]);
  return Buffer.concat([head, frame, body, mp3.subarray(oldTagBytes)]);
}

function riff(...chunks: Buffer[]): Buffer {
  return chunk('RIFF', Buffer.concat([Buffer.from('AVI '), ...chunks]));
}

function list(type: string, ...chunks: Buffer[]): Buffer {
  return chunk('LIST', Buffer.concat([Buffer.from(type), ...chunks]));
}

function chunk(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 0);
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}
