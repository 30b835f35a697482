import { execFile, spawn, spawnSync } from 'node:child_process';
import type { SpawnOptions } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chown, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CommandError, exitCodes } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';

const run = promisify(execFile);

/** A database for the demo, removed when the demo ends. */
export interface DemoPostgres extends AsyncDisposable {
  /** Address for the configuration key `ledger`. */
  readonly url: string;
  /** null: not needed */
  readonly password: string | null;
  /** Location for display. */
  readonly where: string;
}

/**
 * Creates a database on the server named by `PGHOST`, or starts a temporary server.
 *
 * @throws {CommandError} if PostgreSQL is missing or does not start, or the server refuses to create a database
 */
export async function openDemoPostgres({ env }: Pick<Shell, 'env'>, find = findPrograms): Promise<DemoPostgres> {
  const programs = find(env['PATH'] ?? '');
  if (env['PGHOST'] !== undefined) return databaseOn(env['PGHOST'], env, programs);
  if (programs === null)
    throw new CommandError(
      'the demo of a fleet needs PostgreSQL 15 or newer: install it (Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql), ' +
        'or name a server with PGHOST, PGUSER and PGPASSWORD',
    );
  try {
    return await ownServer(programs);
  } catch (error) {
    throw new CommandError(`PostgreSQL did not start: ${(error as Error).message}`, exitCodes.failed, { cause: error });
  }
}

/** Finds the folder with `initdb` and `postgres`, newest version first. Debian keeps these programs off the PATH. */
function findPrograms(path: string): string | null {
  const versionOf = (folder: string): number => Number(/(\d+)\/bin$/.exec(folder)?.[1] ?? 0);
  const ofDebian = globSync('/usr/lib/postgresql/*/bin').toSorted((one, other) => versionOf(other) - versionOf(one));
  const folders = [...ofDebian, ...path.split(':'), '/opt/homebrew/opt/postgresql/bin'];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null;
}

async function databaseOn(host: string, env: Shell['env'], programs: string | null): Promise<DemoPostgres> {
  const { PGPORT: port = '5432', PGUSER: user = 'postgres', PGPASSWORD: password = '' } = env;
  const name = `dropcast_demo_${randomBytes(4).toString('hex')}`;
  const program = (which: string): string => (programs === null ? which : join(programs, which));
  const to = ['-h', host, '-p', port, '-U', user, '--no-password'];
  try {
    await run(program('createdb'), [...to, name], { env: { ...env, PGPASSWORD: password } });
  } catch (error) {
    throw new CommandError(`no database for the demo on ${host}: ${(error as Error).message}`, exitCodes.failed, {
      cause: error,
    });
  }
  return {
    url: addressOf({ host, port, user, database: name }),
    password: password === '' ? null : password,
    where: `${host}, database ${name}`,
    [Symbol.asyncDispose]: async () => {
      await run(program('dropdb'), [...to, '--force', name], { env: { ...env, PGPASSWORD: password } });
    },
  };
}

/** Starts a temporary server that listens only on a socket in its own directory, so it needs no port. */
async function ownServer(programs: string): Promise<DemoPostgres> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'dropcast-pg-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const owner = ownerOfServers();
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const options: SpawnOptions = { ...owner, cwd: folder, env: { LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] };
  await ended(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'dropcast', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    options,
  );
  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`, 'shared_buffers=32MB'];
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    // Detached, because Ctrl-C reaches the terminal's whole process group and the server must outlive the members.
    { ...options, detached: true },
  );
  stack.defer(async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGQUIT');
    await once(server, 'exit');
  });
  await untilReady(server);
  const parts = stack.move();
  return {
    url: addressOf({ host: folder, port: '5432', user: 'dropcast', database: 'postgres' }),
    password: null,
    where: folder,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function untilReady(server: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr?.on('data', (part) => {
      said = `${said}${String(part)}`.slice(-2_000);
      if (said.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(said.trim())));
  });
}

async function ended(program: string, args: readonly string[], options: SpawnOptions): Promise<void> {
  const child = spawn(program, [...args], options);
  let said = '';
  child.stderr?.on('data', (part) => (said += String(part)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(said.trim());
}

/** The user to run the server as. PostgreSQL refuses to run as root, so root uses the user `postgres`. */
function ownerOfServers(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (which: string): number => Number(spawnSync('id', [which, 'postgres'], { encoding: 'utf8' }).stdout);
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  if (!(uid > 0)) throw new Error('it refuses to run as root, and this machine has no user postgres');
  return { uid, gid };
}

function addressOf(to: { host: string; port: string; user: string; database: string }): string {
  const host = to.host.startsWith('/') ? encodeURIComponent(to.host) : to.host;
  return `postgres://${encodeURIComponent(to.user)}@${host}:${to.port}/${to.database}`;
}
