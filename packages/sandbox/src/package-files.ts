import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * Files in the root of the package. This file is one level below the root of the package in the sources (src/), in
 * their build (dist/) and in the bundle of the Debian package (dist/, all in one folder); those deeper down are not, so
 * they ask here.
 */
export function packageFile(name: 'package.json' | 'openapi.yaml'): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}

/** @throws when the package.json cannot be read */
export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(packageFile('package.json'), 'utf8')) as { version: string };
  return version;
}
