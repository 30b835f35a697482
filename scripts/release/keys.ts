import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MAINTAINER } from '../package/maintainer.ts';
import { missingTools } from '../package/tools.ts';

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
  /** Writes the public keys. @throws if the directory has other ones: installations trust those, and refuse the new ones */
  publish(directory: string): Promise<void>;
}

/**
 * Opens the keys of a directory that `writeNewKeys` wrote, or throw-away keys for null.
 *
 * @param epochSeconds time of the release: of throw-away keys, and of all signatures unless the keys are younger
 * @throws if a key is missing, has a password, or gpg or minisign refuse it
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
  const secret = join(from, secrets.minisign);
  const pub = join(scratch, 'public');
  // Now, rather than after minutes of work.
  await withoutPassword(from, minisign('-R', '-f', '-s', secret, '-p', pub));
  await withoutPassword(from, sign('--output', join(scratch, 'trial'), '--detach-sign', pub));
  const parts = own.move();
  return {
    clearsign: async (file, output) => void (await sign('--output', output, '--clearsign', file)),
    detach: async (file, output) => void (await sign('--armor', '--output', output, '--detach-sign', file)),
    minisign: (file) =>
      minisign('-S', '-s', secret, '-m', file, '-t', `dropcast, ${new Date(epochSeconds * 1_000).toISOString()}`),
    publish: async (to) => {
      await requireSame(to, pub);
      await mkdir(to, { recursive: true });
      await gpg('--output', join(to, 'dropcast.gpg'), '--export');
      await gpg('--armor', '--output', join(to, 'dropcast.asc'), '--export');
      await copyFile(pub, join(to, 'minisign.pub'));
      if (directory === null)
        await writeFile(join(to, throwAway), 'The secret keys were deleted after a trial build.\n');
      else await rm(join(to, throwAway), { force: true });
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** A file next to the public keys of a trial, which the next build replaces. */
const throwAway = 'THROW-AWAY';

async function requireSame(published: string, pub: string): Promise<void> {
  const file = join(published, 'minisign.pub');
  if (!existsSync(file) || existsSync(join(published, throwAway))) return;
  if ((await readFile(file)).equals(await readFile(pub))) return;
  throw new Error(
    `${published} has other keys, and installations trust only those: pass them to --sign, or use another directory for --out`,
  );
}

/** Without input: minisign would wait forever for a password. */
async function minisign(...args: readonly string[]): Promise<void> {
  const running = run('minisign', [...args]);
  running.child.stdin?.end();
  await running;
}

async function withoutPassword(directory: string, trial: Promise<unknown>): Promise<void> {
  try {
    await trial;
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`the keys in ${directory} cannot sign; they must have no password\n${message.trimEnd()}`, {
      cause: error,
    });
  }
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
  const missing = await missingTools({ gpg: 'gnupg', minisign: 'minisign' });
  if (missing !== null) throw new Error(missing);
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
  await minisign('-G', '-W', '-s', secret, '-p', join(directory, 'minisign.pub'));
  await readFile(secret);
}
