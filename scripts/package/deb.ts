import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Architecture } from './architecture.ts';
import { MAINTAINER } from './maintainer.ts';
import { directoriesOf, isDirectory, writeTree } from './packaged-file.ts';
import type { PackagedFile } from './packaged-file.ts';

const run = promisify(execFile);

export interface Deb {
  readonly version: string;
  readonly architecture: Architecture;
  readonly files: readonly PackagedFile[];
  /** preinst, postinst, prerm, postrm. */
  readonly scripts: Readonly<Record<string, string>>;
  readonly epochSeconds: number;
}

/**
 * Writes the package. The same files give the same bytes: owners, modes, times and their order are set, and the
 * compression does not depend on the number of processors.
 *
 * @param output the file to write; scratch files lie beside it
 * @param isFast compresses little, for tests: 3 s in place of a minute, and half as big again
 */
export async function writeDeb(deb: Deb, output: string, isFast: boolean): Promise<void> {
  const scratch = await mkdtemp(`${output}.`);
  try {
    await writeTree([...deb.files, ...controlFiles(deb)], scratch, deb.epochSeconds);
    // As many threads as there are processors: dpkg cuts the data into the same blocks for one (seen with 1 and 2, dpkg
    // 1.21.22).
    const compression = isFast ? ['-Zxz', '-z0'] : ['-Zxz'];
    await run('dpkg-deb', ['--root-owner-group', ...compression, '--build', scratch, output], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(deb.epochSeconds), LC_ALL: 'C', TZ: 'UTC' },
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What deb-control(5), deb-md5sums(5) and deb-conffiles(5) ask for. */
export function controlFiles({ version, architecture, files, scripts }: Deb): readonly PackagedFile[] {
  const sorted = files.filter((file) => !isDirectory(file)).toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const conffiles = sorted.filter(({ path }) => path.startsWith('etc/')).map(({ path }) => `/${path}\n`);
  const sums = sorted
    .filter(({ path }) => !path.startsWith('etc/'))
    .map(({ path, content }) => `${md5(content)}  ${path}\n`);
  return [
    { path: 'DEBIAN/control', content: control(version, architecture.deb, installedKibibytes(files)) },
    { path: 'DEBIAN/conffiles', content: conffiles.join('') },
    { path: 'DEBIAN/md5sums', content: sums.join('') },
    ...Object.entries(scripts).map(([name, content]) => ({ path: `DEBIAN/${name}`, content, mode: 0o755 })),
  ];
}

/**
 * libatomic is linked by Node 26; getent, useradd and the user database are there on any Debian, systemd is not in a
 * container.
 */
function control(version: string, architecture: string, kibibytes: number): string {
  return `Package: dropcast
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${kibibytes}
Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1, libatomic1, ca-certificates, systemd | passwd
Suggests: logrotate, acl, bash-completion
Section: net
Priority: optional
Description: uploads the videos that appear in watched folders
 Drop a video into a folder: dropcast waits until it is complete, uploads it,
 waits until it is ready, and publishes the feed, with the channel, tags and
 title that the rules of the folder say. It loses nothing, uploads nothing
 twice, and always says what it is doing and why.
 .
 It comes as a hardened systemd service with its own Node.js.
`;
}

/** Each file rounded up, and one for each directory (deb-substvars(5)). */
function installedKibibytes(files: readonly PackagedFile[]): number {
  const content = files.map(({ content }) => Math.ceil(Buffer.byteLength(content) / 1024));
  return content.reduce((sum, size) => sum + size, directoriesOf(files).length);
}

function md5(content: string | Uint8Array): string {
  return createHash('md5').update(content).digest('hex');
}

/** @returns SHA-256 in hexadecimal */
export async function sha256Of(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
