import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { architectures } from '../package/architecture.ts';
import type { ReleaseKeys } from './keys.ts';

const run = promisify(execFile);

/**
 * Writes a repository for apt into DIR/apt: packages that are there stay, so older versions can still be installed.
 *
 * @param debs packages of this release
 * @param url address that the tree will have
 */
export async function writeAptRepository({
  out,
  debs,
  url,
  epochSeconds,
  keys,
}: {
  readonly out: string;
  readonly debs: readonly string[];
  readonly url: string;
  readonly epochSeconds: number;
  readonly keys: ReleaseKeys;
}): Promise<void> {
  const home = join(out, 'apt');
  const pool = join(home, 'pool/main/d/dropcast');
  const suite = join(home, 'dists/stable');
  await mkdir(pool, { recursive: true });
  for (const deb of debs) await copyFile(deb, join(pool, basename(deb)));
  for (const { deb } of architectures) {
    const { stdout } = await ftparchive(home, ['--arch', deb, 'packages', 'pool']);
    await writeIndex(join(suite, `main/binary-${deb}`), stdout);
  }
  const fields = {
    Origin: 'dropcast',
    Label: 'dropcast',
    Suite: 'stable',
    Codename: 'stable',
    Components: 'main',
    Architectures: architectures.map(({ deb }) => deb).join(' '),
    Date: new Date(epochSeconds * 1_000).toUTCString().replace('GMT', '+0000'),
    'Acquire-By-Hash': 'yes',
  };
  const options = Object.entries(fields).flatMap(([name, value]) => [
    '-o',
    `APT::FTPArchive::Release::${name}=${value}`,
  ]);
  // apt asks for a list by the strongest hash in the release file, and the lists are stored by SHA-256 alone.
  for (const hash of ['MD5', 'SHA1', 'SHA512']) options.push('-o', `APT::FTPArchive::Release::${hash}=false`);
  // It would list its own former version.
  for (const name of ['Release', 'Release.gpg', 'InRelease']) await rm(join(suite, name), { force: true });
  const { stdout: release } = await ftparchive(suite, [...options, 'release', '.']);
  const file = join(suite, 'Release');
  await writeFile(file, release);
  await keys.detach(file, join(suite, 'Release.gpg'));
  await keys.clearsign(file, join(suite, 'InRelease'));
  await writeFile(join(home, 'dropcast.sources'), sources(url));
}

/** Without a cache, and without what the machine's own configuration sets. */
function ftparchive(cwd: string, args: readonly string[]): Promise<{ stdout: string }> {
  return run('apt-ftparchive', [...args], {
    cwd,
    maxBuffer: 2 ** 26,
    env: { ...process.env, APT_CONFIG: '/dev/null', LC_ALL: 'C', TZ: 'UTC' },
  });
}

/** Writes a list of packages, compressed as well, and all of it also by hash, so that an update never mixes two lists. */
async function writeIndex(directory: string, text: string): Promise<void> {
  const byHash = join(directory, 'by-hash/SHA256');
  await mkdir(byHash, { recursive: true });
  for (const [name, content] of [
    ['Packages', Buffer.from(text)],
    ['Packages.gz', gzipSync(text, { level: 9 })],
  ] as const) {
    await writeFile(join(directory, name), content);
    await writeFile(join(byHash, createHash('sha256').update(content).digest('hex')), content);
  }
}

function sources(url: string): string {
  return `Types: deb
URIs: ${url}/apt
Suites: stable
Components: main
Signed-By: /usr/share/keyrings/dropcast.gpg
`;
}
