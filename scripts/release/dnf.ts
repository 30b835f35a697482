import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Architecture } from '../package/architecture.ts';
import type { ReleaseKeys } from './keys.ts';

const run = promisify(execFile);

/**
 * Writes repositories for dnf into DIR/rpm, one for each processor: packages that are there stay. As with apt, the
 * signed index has the hash of each package, and the packages themselves have no signature that would differ by key.
 *
 * @param url address that the tree will have
 */
export async function writeDnfRepository({
  out,
  rpms,
  url,
  epochSeconds,
  keys,
}: {
  readonly out: string;
  readonly rpms: readonly { readonly file: string; readonly architecture: Architecture }[];
  readonly url: string;
  readonly epochSeconds: number;
  readonly keys: ReleaseKeys;
}): Promise<void> {
  for (const { file, architecture } of rpms) {
    const home = join(out, 'rpm', architecture.rpm);
    await mkdir(home, { recursive: true });
    await copyFile(file, join(home, basename(file)));
    for (const name of (await readdir(home)).filter((entry) => entry.endsWith('.rpm')))
      await setTimeOfBuild(join(home, name));
    const times = ['--revision', String(epochSeconds), '--set-timestamp-to-revision'];
    await run('createrepo_c', ['--quiet', '--no-database', '--simple-md-filenames', ...times, home]);
    const index = join(home, 'repodata/repomd.xml');
    await keys.detach(index, `${index}.asc`);
  }
  await writeFile(
    join(out, 'rpm/dropcast.repo'),
    `[dropcast]
name=dropcast
baseurl=${url}/rpm/$basearch
gpgkey=${url}/keys/dropcast.asc
# The index is signed, and has the SHA-256 of each package.
repo_gpgcheck=1
gpgcheck=0
`,
  );
}

/** The index has the times of the files, and those of older packages may have been copied without them. */
async function setTimeOfBuild(file: string): Promise<void> {
  const { stdout } = await run('rpm', ['--query', '--queryformat', '%{BUILDTIME}', '--package', file]);
  await utimes(file, Number(stdout), Number(stdout));
}
