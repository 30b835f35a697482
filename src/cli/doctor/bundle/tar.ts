import { gzipSync } from 'node:zlib';

export interface TarEntry {
  readonly name: string;
  readonly content: string;
}

const block = 512;

/** A gzipped archive (POSIX.1-1988, `ustar`) of text files that belong to nobody. @param at modification time, epoch milliseconds */
export function tarball(entries: readonly TarEntry[], at: number): Buffer {
  const parts = entries.flatMap(({ name, content }) => {
    const bytes = Buffer.from(content);
    return [header(name, bytes.length, at), bytes, Buffer.alloc(-bytes.length & (block - 1))];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]));
}

function header(name: string, size: number, at: number): Buffer {
  const bytes = Buffer.alloc(block);
  const put = (text: string, offset: number): void => void bytes.write(text, offset, 'latin1');
  const octal = (number: number, digits: number): string => `${number.toString(8).padStart(digits, '0')}\0`;
  put(name, 0);
  put(octal(0o644, 7), 100);
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(octal(size, 11), 124);
  put(octal(Math.floor(at / 1000), 11), 136);
  put('        ', 148);
  put('0', 156);
  put('ustar', 257);
  put('00', 263);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)} `, 148);
  return bytes;
}
