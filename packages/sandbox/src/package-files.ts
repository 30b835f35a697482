import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * Returns the path of a file in the package root. Only this file is always one level below the root: in the sources
 * (src/), in the build (dist/) and in the bundle of the Debian package (dist/, all in one folder). Files in deeper
 * folders call it.
 */
export function packageFile(name: 'package.json' | 'openapi.yaml'): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}

/** @throws if package.json cannot be read */
export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(packageFile('package.json'), 'utf8')) as { version: string };
  return version;
}
