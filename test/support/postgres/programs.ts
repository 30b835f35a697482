import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Whether tests have a server: that of PGHOST, or one that they start. */
export function isTherePostgres(): boolean {
  return process.env['PGHOST'] !== undefined || findPostgres() !== undefined;
}

/** The folder of `initdb` and `postgres`, newest version first. Debian keeps them off the PATH. */
export function findPostgres(): string | undefined {
  const version = (folder: string): number => Number(/(\d+)\/bin$/.exec(folder)?.[1] ?? 0);
  const debian = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => version(b) - version(a));
  const folders = [...debian, ...(process.env['PATH'] ?? '').split(':'), '/opt/homebrew/opt/postgresql/bin'];
  return folders.find((folder) => ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))));
}

/** Starts one of its programs: as the user postgres where we are root, whom it refuses; it ends with this process, however that ends. */
export function spawnPostgres(program: string, args: readonly string[]): ChildProcess {
  const folder = findPostgres();
  if (folder === undefined) throw new Error('no PostgreSQL here: apt-get install postgresql');
  const [command = '', ...rest] = [...boundToUs(), join(folder, program), ...args];
  return spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
  });
}

/** SIGQUIT ends a server at once, with all its children. */
function boundToUs(): readonly string[] {
  if (!existsSync('/usr/bin/setpriv')) return [];
  const user = isRoot ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
  return ['/usr/bin/setpriv', ...user, '--pdeathsig=QUIT', '--'];
}

const isRoot = process.getuid?.() === 0;

/** @throws Error with what it wrote, when it fails */
export async function runPostgres(program: string, args: readonly string[]): Promise<void> {
  const child = spawnPostgres(program, args);
  const ended = once(child, 'close');
  const [, written] = await Promise.all([
    child.stdout && text(child.stdout),
    child.stderr && text(child.stderr),
    ended,
  ]);
  if (child.exitCode !== 0) throw new Error(`${program} ended with ${child.exitCode ?? child.signalCode}: ${written}`);
}

/** Who owns the files: the user postgres for root, else nobody else. */
export function ownerOfClusters(): { readonly uid: number; readonly gid: number } | null {
  if (!isRoot) return null;
  const [uid = 0, gid = 0] = ['-u', '-g'].map((which) =>
    Number(spawnSync('id', [which, 'postgres'], { encoding: 'utf8' }).stdout),
  );
  return { uid, gid };
}
