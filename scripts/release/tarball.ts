import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { writeTree } from '../package/packaged-file.ts';
import type { PackagedFile } from '../package/packaged-file.ts';

/**
 * Writes a .tar.gz. The same files give the same bytes: order, owners, times and modes are set.
 *
 * @param files their paths start with the folder that the tarball makes
 */
export async function writeTarball(
  files: readonly PackagedFile[],
  output: string,
  epochSeconds: number,
): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'dropcast-tarball-'));
  try {
    await mkdir(dirname(output), { recursive: true });
    await writeTree(files, scratch, epochSeconds);
    const order = ['--format=ustar', '--sort=name', `--mtime=@${epochSeconds}`];
    const owners = ['--owner=0', '--group=0', '--numeric-owner'];
    const tar = spawn('tar', ['--create', ...order, ...owners, '--directory', scratch, ...(await readdir(scratch))], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, LC_ALL: 'C' },
    });
    const ended = new Promise<number | null>((resolve, reject) => tar.once('close', resolve).once('error', reject));
    await pipeline(tar.stdout, createGzip({ level: 9 }), createWriteStream(output));
    if ((await ended) !== 0) throw new Error(`tar failed for ${output}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
