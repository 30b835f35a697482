import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MAINTAINER } from '../package/maintainer.ts';

const run = promisify(execFile);

/** Programs that keys need, and the Debian packages that have them. */
export const keyTools = { gpg: 'gnupg', minisign: 'minisign' } as const;

/** Names of the secret keys in a directory of `--sign` and `--new-keys`. */
const secrets = { openpgp: 'openpgp.asc', minisign: 'minisign.key' } as const;

/** Keys that sign one release. The same keys give the same bytes: signatures have a set time. */
export interface ReleaseKeys extends AsyncDisposable {
  /** Writes a file with its signature inside, as apt reads `InRelease`. */
  clearsign(file: string, output: string): Promise<void>;
  /** Writes an armoured signature of a file. */
  detach(file: string, output: string): Promise<void>;
  /** Writes FILE.minisig. */
  minisign(file: string): Promise<void>;
  /** Writes the public keys. */
  publish(directory: string): Promise<void>;
}

/**
 * Opens the keys of a directory that `writeNewKeys` wrote, or throw-away keys for null.
 *
 * @param epochSeconds time of the release: of throw-away keys, and of all signatures unless the keys are younger
 * @throws if a key is missing or gpg or minisign refuse it
 */
export async function openKeys(directory: string | null, epochSeconds: number): Promise<ReleaseKeys> {
  await using own = new AsyncDisposableStack();
  const scratch = await mkdtemp(join(tmpdir(), 'dropcast-keys-'));
  own.defer(() => rm(scratch, { recursive: true, force: true }));
  if (directory === null) await writeNewKeys(scratch, epochSeconds);
  const from = directory ?? scratch;
  const home = join(scratch, 'gnupg');
  await mkdir(home, { mode: 0o700 });
  const gpg = (...args: readonly string[]) => run('gpg', ['--homedir', home, '--batch', '--yes', ...args]);
  own.defer(async () => void (await run('gpgconf', ['--homedir', home, '--kill', 'all'])));
  await gpg('--import', join(from, secrets.openpgp));
  const { stdout: listed } = await gpg('--list-secret-keys', '--with-colons');
  const time = ['--faked-system-time', `${Math.max(epochSeconds, youngest(listed))}!`];
  const sign = (...args: readonly string[]) =>
    gpg(...time, '--pinentry-mode', 'loopback', '--digest-algo', 'SHA512', ...args);
  const parts = own.move();
  return {
    clearsign: async (file, output) => void (await sign('--output', output, '--clearsign', file)),
    detach: async (file, output) => void (await sign('--armor', '--output', output, '--detach-sign', file)),
    minisign: async (file) => {
      const comment = `dropcast, ${new Date(epochSeconds * 1_000).toISOString()}`;
      await run('minisign', ['-S', '-s', join(from, secrets.minisign), '-m', file, '-t', comment]);
    },
    publish: async (to) => {
      await mkdir(to, { recursive: true });
      await gpg('--output', join(to, 'dropcast.gpg'), '--export');
      await gpg('--armor', '--output', join(to, 'dropcast.asc'), '--export');
      await run('minisign', ['-R', '-f', '-s', join(from, secrets.minisign), '-p', join(to, 'minisign.pub')]);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/**
 * A signature that is older than its key is invalid, and keys are often made after the commit that they sign.
 *
 * @param listed of `gpg --with-colons` @returns when the last key or subkey was made, in seconds
 */
function youngest(listed: string): number {
  const made = [...listed.matchAll(/^(?:sec|ssb):(?:[^:]*:){4}(\d+)/gm)].map(([, seconds]) => Number(seconds));
  return Math.max(...made);
}

/** Writes two secret keys without passwords into a directory. @throws if one is there */
export async function writeNewKeys(directory: string, epochSeconds = Math.floor(Date.now() / 1_000)): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const home = await mkdtemp(join(tmpdir(), 'dropcast-gnupg-'));
  try {
    const gpg = (...args: readonly string[]) => run('gpg', ['--homedir', home, '--batch', '--passphrase', '', ...args]);
    // RSA: rpm of RHEL 8 knows no newer kind.
    await gpg('--faked-system-time', `${epochSeconds}!`, '--quick-gen-key', MAINTAINER, 'rsa4096', 'sign', 'never');
    const { stdout } = await gpg('--armor', '--export-secret-keys');
    await writeFile(join(directory, secrets.openpgp), stdout, { mode: 0o600, flag: 'wx' });
  } finally {
    await run('gpgconf', ['--homedir', home, '--kill', 'all']);
    await rm(home, { recursive: true, force: true });
  }
  const secret = join(directory, secrets.minisign);
  await run('minisign', ['-G', '-W', '-s', secret, '-p', join(directory, 'minisign.pub')]);
  await readFile(secret);
}
