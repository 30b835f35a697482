import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** What lies beside the program in its package. */
type PackageFile = 'package.json' | 'test/media';

/**
 * Where it is. This file is one level below the root of the package in the sources (src/), in their build (dist/) and in the
 * bundle of the installed package (dist/, all in one folder); those deeper down are not, so they ask here.
 */
export function packageFile(name: PackageFile): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}

/** Of the package. @throws when its package.json cannot be read */
export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(packageFile('package.json'), 'utf8')) as { version: string };
  return version;
}
