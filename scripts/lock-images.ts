import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Architecture, DebianLock, LockedPackage } from './release/image/debian.ts';
import { debianNames } from './release/image/recipes.ts';

const run = promisify(execFile);
const SUITE = 'trixie';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Writes debian.lock.json with the newest packages of Debian. apt checks the signatures, in directories of its own, so
 * no root is needed and the machine stays as it is.
 */
async function renewLock(): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'dropcast-lock-'));
  try {
    const options = await aptOptions(scratch);
    await run('apt-get', [...options, 'update']);
    const lock: DebianLock = {
      suite: SUITE,
      epochSeconds: Math.floor(Date.now() / 1000),
      packages: { amd64: await newest(options, 'amd64'), arm64: await newest(options, 'arm64') },
    };
    await writeFile(join(import.meta.dirname, 'release/image/debian.lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
    for (const { name, version } of lock.packages.amd64) console.error(`${name} ${version}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function aptOptions(scratch: string): Promise<readonly string[]> {
  const suites = [
    ['debian', SUITE],
    ['debian', `${SUITE}-updates`],
    ['debian-security', `${SUITE}-security`],
  ];
  const lines = suites.map(
    ([archive, suite]) => `deb [signed-by=${KEYRING}] http://deb.debian.org/${archive} ${suite} main\n`,
  );
  for (const directory of ['lists/partial', 'cache/archives/partial'])
    await mkdir(join(scratch, directory), { recursive: true });
  await writeFile(join(scratch, 'status'), '');
  await writeFile(join(scratch, 'sources.list'), lines.join(''));
  const settings = {
    'Dir::Etc::sourcelist': join(scratch, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State': scratch,
    'Dir::State::status': join(scratch, 'status'),
    'Dir::Cache': join(scratch, 'cache'),
    'APT::Architectures': 'amd64,arm64',
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': '',
  };
  return Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
}

async function newest(options: readonly string[], architecture: Architecture): Promise<readonly LockedPackage[]> {
  const names = debianNames.map((name) => `${name}:${architecture}`);
  const { stdout } = await run('apt-get', [...options, '--print-uris', 'download', ...names]);
  const lines = [
    ...stdout.matchAll(
      /^'http:\/\/deb\.debian\.org\/([\w-]+)\/(\S+)' ([^_\s]+)_([^_\s]+)_\S+ (\d+) SHA256:(\w{64})$/gm,
    ),
  ];
  const found = lines.map(([, archive = '', path = '', name = '', version = '', size, sha256 = '']) => ({
    name,
    version: decodeURIComponent(version),
    archive,
    path: decodeURIComponent(path),
    sizeBytes: Number(size),
    sha256,
  }));
  const missing = debianNames.filter((wanted) => !found.some(({ name }) => name === wanted));
  if (missing.length > 0) throw new Error(`apt-get names no file for ${missing.join(', ')} of ${architecture}`);
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

if (import.meta.main) await renewLock();
