import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../../../packages/sandbox/src/media/ffmpeg.ts';

/** null where ffmpeg is not installed; tests that need the real one are skipped there. */
export const ffmpeg = findProgram('ffmpeg', process.env['PATH'] ?? '');

/** A shell script that stands for ffmpeg: it notes its run in `runs`, in the same folder, and does what the lines say. */
export async function standIn(folder: string, lines: string): Promise<string> {
  const path = join(folder, 'program');
  await writeFile(path, `#!/bin/sh\necho run >> ${folder}/runs\n${lines}\n`);
  await chmod(path, 0o700);
  return path;
}

/** Writes something to where ffmpeg would write the picture: its last argument. */
export const WRITES_PICTURE = 'for last; do :; done; echo picture > "${last#file:}"';
