import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * The sample media of `dropcast demo`: in a published package they have a folder of their own, elsewhere the tests use
 * them too.
 */
export function sampleMedia(): string {
  const published = packageFile('samples');
  return existsSync(published) ? published : packageFile('test/media');
}

/** The main file of the program, with which it starts another process of itself. */
export function programFile(): string {
  const { url } = import.meta;
  return fileURLToPath(new URL(url.endsWith('.ts') ? './main.ts' : './main.js', url));
}

/** The package.json of what runs now; it changes with every installation. */
export function packageManifest(): string {
  return packageFile('package.json');
}

/**
 * The absolute path of a file of the package. This module is one level below the root in the sources (src/), in their
 * build (dist/) and in the bundle of the installed package (dist/, one folder). Deeper modules are not, so they call
 * this one.
 */
function packageFile(name: 'package.json' | 'samples' | 'test/media'): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}

/** The version of the package. @throws when its package.json cannot be read */
export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(packageManifest(), 'utf8')) as { version: string };
  return version;
}
