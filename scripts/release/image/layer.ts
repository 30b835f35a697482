import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file that an image refers to by its digest. */
export interface Blob {
  readonly file: string;
  /** sha256:… */
  readonly digest: string;
  readonly sizeBytes: number;
}

export interface Layer extends Blob {
  /** Digest of the layer before its compression, which the configuration of the image names. */
  readonly diffId: string;
}

export interface TarTerms {
  /** Seconds since 1970 for everything in it. */
  readonly epochSeconds: number;
  /** Directories of the user of the image, from the root of the tree. All else is of root. */
  readonly ownDirectories?: readonly string[];
  readonly user?: number;
  /** Permissions for everything, as chmod(1) takes them; otherwise those of the tree. */
  readonly mode?: string;
}

/** Writes a tar file: the same tree gives the same bytes. */
export async function writeTar(tree: string, file: string, terms: TarTerms): Promise<void> {
  const { epochSeconds, ownDirectories = [], user = 0, mode } = terms;
  const stable = ['--format=gnu', '--sort=name', '--numeric-owner', `--mtime=@${epochSeconds}`];
  if (mode !== undefined) stable.push(`--mode=${mode}`);
  const where = ['--file', file, '--directory', tree];
  const others = ownDirectories.map((path) => `--exclude=./${path}`);
  await run('tar', ['--create', ...stable, '--owner=0', '--group=0', ...others, '--anchored', ...where, '.']);
  if (ownDirectories.length === 0) return;
  const owner = [`--owner=${user}`, `--group=${user}`, '--no-recursion'];
  await run('tar', ['--append', ...stable, ...owner, ...where, ...ownDirectories.map((path) => `./${path}`)]);
}

/**
 * Makes a layer of a tree. gzip, not Node, compresses it: the zlib of Node uses what the processor has, and other
 * instructions give other bytes.
 *
 * @param isFast compresses little, for tests
 */
export async function writeLayer(tree: string, terms: TarTerms, isFast: boolean): Promise<Layer> {
  const file = `${tree}.tar`;
  await writeTar(tree, file, terms);
  const { digest: diffId } = await blobOf(file);
  await run('gzip', ['--no-name', isFast ? '-1' : '-9', file]);
  return { ...(await blobOf(`${file}.gz`)), diffId };
}

export async function blobOf(file: string): Promise<Blob> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return { file, digest: `sha256:${hash.digest('hex')}`, sizeBytes: (await stat(file)).size };
}
