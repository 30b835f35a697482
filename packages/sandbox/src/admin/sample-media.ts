import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { sampleClip } from './sample-clip.ts';

/** Media files to fill a sandbox with. */
export interface SampleMedia {
  /** A file's bytes; after the last one the first comes again. */
  readonly bytes: (index: number) => Promise<Buffer>;
}

/** Real files of the folder, in the order of their names; a short clip where there are none. */
export async function openSamples(folder: string | undefined): Promise<SampleMedia> {
  const names = folder === undefined ? [] : await readdir(folder).catch(() => []);
  const paths = names
    .filter((name) => EXTENSIONS.has(extname(name)))
    .toSorted()
    .map((name) => join(folder ?? '', name));
  const bytes = async (index: number): Promise<Buffer> => {
    const path = paths[index % Math.max(paths.length, 1)];
    return path === undefined ? clip(index) : readFile(path);
  };
  return { bytes };
}

const EXTENSIONS = new Set(['.mp4', '.mov', '.mkv', '.webm', '.m2ts', '.ts', '.mp3', '.m4a', '.wav', '.flac']);

/** The clip, with a box at its end that players skip: like the files of a person, no two are the same. */
function clip(index: number): Buffer {
  const box = Buffer.alloc(12);
  box.writeUInt32BE(box.length, 0);
  box.write('free', 4, 'latin1');
  box.writeUInt32BE(index, 8);
  return Buffer.concat([sampleClip, box]);
}
