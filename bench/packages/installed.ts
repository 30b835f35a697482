import { mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from '../bench.ts';
import { output } from '../child.ts';

/** A package that npm installed from its tarball in a project of its own. */
export interface Installed {
  /** Absolute path of the project. */
  readonly project: string;
  readonly tarballBytes: number;
  /** Of node_modules on disk, in blocks, as du counts. */
  readonly bytes: number;
}

export interface InstalledPackages {
  readonly client: Installed;
  readonly sandbox: Installed;
}

/** Packs a checkout, once a run, and installs its client and its sandbox in empty projects. */
export function installedFrom(build: Build): Promise<InstalledPackages> {
  const known = installed.get(build.root) ?? install(build);
  installed.set(build.root, known);
  return known;
}

const installed = new Map<string, Promise<InstalledPackages>>();

async function install({ root, plainNode }: Build): Promise<InstalledPackages> {
  await output(plainNode, ['scripts/pack.ts'], { cwd: root });
  const [client, sandbox] = await Promise.all(
    ['client', 'sandbox'].map((name) => installOne(join(root, 'build'), `dropcast-${name}-`)),
  );
  if (client === undefined || sandbox === undefined) throw new Error('npm run pack wrote no tarballs');
  return { client, sandbox };
}

async function installOne(folder: string, prefix: string): Promise<Installed> {
  const name = (await readdir(folder)).find((file) => file.startsWith(prefix) && file.endsWith('.tgz'));
  if (name === undefined) throw new Error(`there is no ${prefix}*.tgz in ${folder}`);
  const project = await mkdtemp(join(tmpdir(), prefix));
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
  await output('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, name)], { cwd: project });
  const tarballBytes = (await stat(join(folder, name))).size;
  return { project, tarballBytes, bytes: await bytesBelow(join(project, 'node_modules')) };
}

async function bytesBelow(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).blocks * 512));
  return sizes.reduce((sum, size) => sum + size, 0);
}
