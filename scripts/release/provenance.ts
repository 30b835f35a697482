import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sum } from './sums.ts';

const run = promisify(execFile);

/** What a release is built from. */
export interface Source {
  readonly commit: string;
  /** Of the files that git tracks or would track. */
  readonly hasChanges: boolean;
}

export async function sourceOf(root: string): Promise<Source> {
  const { stdout: commit } = await run('git', ['rev-parse', 'HEAD'], { cwd: root });
  const { stdout: changes } = await run('git', ['status', '--porcelain'], { cwd: root });
  return { commit: commit.trim(), hasChanges: changes !== '' };
}

/**
 * Writes what the release was built from: an in-toto statement v1 with SLSA provenance v1
 * (https://slsa.dev/spec/v1.0/provenance). It has no time and no number of a run, so that a rebuild gives the same file.
 * SHA256SUMS covers it, and its signature.
 *
 * Sources that differ from their commit have no digest.
 *
 * @param of.sums of the files that were built from these sources, so not of packages of older versions
 */
export async function writeProvenance(
  root: string,
  out: string,
  of: { readonly version: string; readonly sums: readonly Sum[]; readonly source: Source },
): Promise<void> {
  const { repository } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    repository: string;
  };
  const { commit, hasChanges } = of.source;
  const locks = ['package-lock.json', 'scripts/release/image/debian.lock.json'];
  const locked = await Promise.all(
    locks.map(async (name) => ({ name, digest: { sha256: digestOf(await readFile(join(root, name))) } })),
  );
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: of.sums.map(({ path, sha256 }) => ({ name: path, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/docs/releasing.md`,
        externalParameters: { command: 'npm run release', version: of.version },
        resolvedDependencies: [
          { uri: `git+${repository}`, ...(!hasChanges && { digest: { gitCommit: commit } }) },
          ...locked,
        ],
      },
      runDetails: { builder: { id: `${repository}/scripts/release.ts` } },
    },
  };
  const directory = join(out, 'provenance');
  await mkdir(directory, { recursive: true });
  const file = join(directory, `dropcast-${of.version}.intoto.json`);
  await writeFile(file, `${JSON.stringify(statement, null, 2)}\n`);
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
