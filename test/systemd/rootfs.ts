import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execute } from './execute.ts';

export type Suite = 'bookworm' | 'trixie';

/** Why there is no root file system, in one sentence. */
export class RootfsError extends Error {
  override readonly name = 'RootfsError';
}

/** What a server has beside a minimal Debian, so that a package installs without a network, and what the tests look with. */
const packages = [
  'systemd systemd-sysv dbus libpam-systemd',
  'ca-certificates libatomic1 libstdc++6',
  'acl iproute2 logrotate procps sudo',
].flatMap((names) => names.split(' '));

/** The recipes of docs/recipes.md install these. Only their downloads are in the root file system. */
const downloads = ['samba', 'smbclient', 'openssh-server', 'openssh-client', 'sshfs', 'tinyproxy'];

/**
 * A minimal Debian in a directory, made by debootstrap once a week and kept below $DROPCAST_BOX_CACHE (the user's cache without
 * it). Nobody may write to it: machines boot with an overlay on top.
 *
 * @returns its path
 * @throws {RootfsError} when it cannot be made, for example without a network
 */
export async function rootfs(suite: Suite): Promise<string> {
  const cache =
    process.env['DROPCAST_BOX_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? `${homedir()}/.cache`, 'dropcast-box');
  const path = join(cache, `${suite}-${recipeKey(suite)}`);
  if (existsSync(path)) return path;
  const draft = `${path}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  await bootstrap(suite, draft);
  // Another run may have been faster: then its one is taken.
  await rename(draft, path).catch(() => rm(draft, { recursive: true, force: true }));
  return path;
}

function recipeKey(suite: Suite): string {
  const week = Math.floor(Date.now() / (7 * 24 * 3_600_000));
  return createHash('sha256')
    .update(JSON.stringify([suite, packages, downloads, identity, week]))
    .digest('hex')
    .slice(0, 12);
}

async function bootstrap(suite: Suite, path: string): Promise<void> {
  const args = ['--variant=minbase', `--include=${packages.join(',')}`, suite, path];
  const { code, stdout } = await execute(['debootstrap', ...args], { timeoutMs: 900_000 });
  if (code !== 0) {
    await rm(path, { recursive: true, force: true });
    const last = stdout.trim().split('\n').at(-1) ?? '';
    throw new RootfsError(`debootstrap could not make Debian ${suite}, is there a network? ${last}`);
  }
  const download = ['apt-get', 'install', '-y', '--download-only', '--no-install-recommends', ...downloads];
  const downloaded = await execute(['chroot', path, ...download], { timeoutMs: 900_000 });
  if (downloaded.code !== 0) throw new RootfsError(`the downloads for the recipes failed: ${downloaded.stderr.trim()}`);
  for (const [name, text] of Object.entries(identity)) await writeFile(join(path, name), text);
}

/** Without a machine id the boot would be a first one, where systemd applies all presets: ours must hold without that. */
const identity = {
  'etc/machine-id': `${createHash('md5').update('dropcast box').digest('hex')}\n`,
  'etc/hostname': 'box\n',
  'etc/hosts': '127.0.0.1 localhost box\n::1 localhost\n',
};
