import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * The sample media for `dropcast demo`. A published package has a separate folder for them; elsewhere they are shared
 * with the tests.
 */
export function sampleMedia(): string {
  const published = packageFile('samples');
  return existsSync(published) ? published : packageFile('test/media');
}

/** The program's main file, used to start another process of the same program. */
export function programFile(): string {
  const { url } = import.meta;
  return fileURLToPath(new URL(url.endsWith('.ts') ? './main.ts' : './main.js', url));
}

/** The package.json of the running program; it changes with every installation. */
export function packageManifest(): string {
  return packageFile('package.json');
}

/**
 * Returns the absolute path of a file in the package. This module is one level below the root in the sources (src/), in
 * their build (dist/) and in the bundle of the installed package (dist/, one folder). Deeper modules are not, so they
 * call this one.
 */
function packageFile(name: 'package.json' | 'samples' | 'test/media'): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}

/** Returns the package's version. @throws when its package.json cannot be read */
export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(packageManifest(), 'utf8')) as { version: string };
  return version;
}
