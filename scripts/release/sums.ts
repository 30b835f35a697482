import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';

export interface Sum {
  /** From the root of the tree, with `/`. */
  readonly path: string;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Keys, signatures, and the list itself: two builds of the same commit differ in nothing else. */
const signatures = /^keys\/|(?:^|\/)(?:InRelease|SHA256SUMS(?:\.minisig)?)$|\.(?:asc|gpg)$/;

/** Whether a file of a release tree depends on the keys. */
export function dependsOnKeys(path: string): boolean {
  return signatures.test(path);
}

/** Whether a file is named for a version: indexes have none, and a tree has packages of older versions too. */
export function isOf(version: string, path: string): boolean {
  const after = String.raw`_(?:amd64|arm64)\.deb|-1\.\w+\.rpm|-macos-|-man\.|\.(?:oci|cdx|spdx)\.`;
  return new RegExp(`[-_]${version.replace(/[.+]/g, '\\$&')}(?:${after})`).test(path);
}

/** Hashes all files of a release tree that do not depend on its keys, sorted by path. */
export async function sumsOf(out: string): Promise<readonly Sum[]> {
  const entries = await readdir(out, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(out, join(parentPath, name)))
    .filter((path) => !dependsOnKeys(path));
  const sums: Sum[] = [];
  for (const path of paths.toSorted((one, other) => (one < other ? -1 : 1))) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(out, path)), hash);
    sums.push({ path, sha256: hash.digest('hex') });
  }
  return sums;
}

/** Writes SHA256SUMS, as `sha256sum --check` reads it. @returns its path */
export async function writeSums(out: string, sums: readonly Sum[]): Promise<string> {
  const file = join(out, 'SHA256SUMS');
  await writeFile(file, sums.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join(''));
  return file;
}
