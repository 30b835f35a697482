import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** Media files to fill a sandbox with. */
export interface SampleMedia {
  /** A file's bytes; after the last one the first comes again. */
  readonly bytes: (index: number) => Promise<Buffer>;
}

/** Real files of the folder, in the order of their names; short sounds where there are none. */
export async function openSamples(folder: string | undefined): Promise<SampleMedia> {
  const names = folder === undefined ? [] : await readdir(folder).catch(() => []);
  const paths = names
    .filter((name) => EXTENSIONS.has(extname(name)))
    .toSorted()
    .map((name) => join(folder ?? '', name));
  return { bytes: (index) => fileOrTone(paths[index % Math.max(paths.length, 1)], index) };
}

const EXTENSIONS = new Set(['.mp4', '.mov', '.mkv', '.webm', '.m2ts', '.ts', '.mp3', '.m4a', '.wav', '.flac']);

async function fileOrTone(path: string | undefined, index: number): Promise<Buffer> {
  return path === undefined ? tone(1 + (index % 5), 220 + 20 * (index % 30)) : readFile(path);
}

const SAMPLES_PER_SECOND = 8000;
const HEAD_BYTES = 44;

/** A WAV file: RIFF with 8-bit PCM, mono. */
function tone(seconds: number, hertz: number): Buffer {
  const length = seconds * SAMPLES_PER_SECOND;
  const file = Buffer.alloc(HEAD_BYTES + length);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(HEAD_BYTES - 8 + length, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20); // PCM
  file.writeUInt16LE(1, 22); // channels
  file.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  file.writeUInt32LE(SAMPLES_PER_SECOND, 28); // bytes per second
  file.writeUInt16LE(1, 32); // bytes per sample
  file.writeUInt16LE(8, 34); // bits per sample
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(length, 40);
  for (let at = 0; at < length; at += 1)
    file[HEAD_BYTES + at] = 128 + Math.round(100 * Math.sin((2 * Math.PI * hertz * at) / SAMPLES_PER_SECOND));
  return file;
}
