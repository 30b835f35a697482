import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { directoriesOf } from '../../package/packaged-file.ts';

const run = promisify(execFile);

/**
 * Unpacks some files of a Debian package, with their directories and modes.
 *
 * @param keep matches paths from the root of the file system, without the first slash; links are kept as they are
 * @throws if the package has no such file
 */
export async function extract(deb: string, keep: RegExp, tree: string): Promise<void> {
  const tarball = `${tree}.package.tar`;
  await mkdir(tree, { recursive: true });
  // A redirection, because Node would have to hold all of it.
  await run('sh', ['-c', 'dpkg-deb --fsys-tarfile "$1" >"$2"', 'sh', deb, tarball]);
  try {
    const { stdout } = await run('tar', ['--list', '--file', tarball], { maxBuffer: 2 ** 24 });
    const paths = stdout.split('\n').map((line) => line.replace(/^\.\//, ''));
    const kept = paths.filter((path) => keep.test(path));
    if (kept.length === 0) throw new Error(`${deb} has no file like ${keep.source}`);
    const parents = new Set(directoriesOf(kept.map((path) => ({ path, content: '' }))).map((path) => `${path}/`));
    const wanted = paths.filter((path) => kept.includes(path) || parents.has(path)).map((path) => `./${path}\n`);
    const names = `${tree}.names`;
    await writeFile(names, wanted.join(''));
    const how = ['--no-recursion', '--no-same-owner', '--preserve-permissions', '--files-from', names];
    await run('tar', ['--extract', '--file', tarball, '--directory', tree, ...how]);
    await rm(names);
  } finally {
    await rm(tarball);
  }
}

/** The control file of a package, which scanners of images look for in /var/lib/dpkg/status.d. */
export async function controlOf(deb: string): Promise<string> {
  return (await run('dpkg-deb', ['--field', deb])).stdout;
}

/** Makes a directory with exact permission bits, whatever the umask is. */
export async function makeDirectory(tree: string, path: string, mode: number): Promise<void> {
  const directory = join(tree, path);
  await mkdir(directory, { recursive: true });
  await run('chmod', [mode.toString(8), directory]);
}
