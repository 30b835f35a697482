import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { sampleClip } from './sample-clip.ts';

/** Media files to fill a sandbox with. */
export interface SampleMedia {
  /** Returns a file's bytes. Indexes beyond the last file wrap around to the first. */
  readonly bytes: (index: number) => Promise<Buffer>;
}

/** Opens the folder's files in name order, or a short clip if there are none. */
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

/** Returns the clip with a trailing box that players skip, so that no two files are the same. */
function clip(index: number): Buffer {
  const box = Buffer.alloc(12);
  box.writeUInt32BE(box.length, 0);
  box.write('free', 4, 'latin1');
  box.writeUInt32BE(index, 8);
  return Buffer.concat([sampleClip, box]);
}
