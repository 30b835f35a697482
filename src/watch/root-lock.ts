import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { errnoOf } from '../errno.ts';

/** `shared`: another user's process has the name, or nobody can tell whose: it proves nothing, and protects nothing. */
export type LockVerdict =
  | { readonly is: 'held'; readonly lock: AsyncDisposable }
  | { readonly is: 'rival'; readonly pid: number }
  | { readonly is: 'shared' };

/**
 * The lock of a running dropcast on a folder, which the kernel releases with the process: a name in the abstract namespace of unix
 * sockets. It leaves no open file in the folder, which would keep its file system from being unmounted. Any user can take such a
 * name, so it counts only when a process of our own user has it.
 *
 * @param directory device and inode, the same by every path that leads there
 */
export async function lockFolder(directory: { readonly dev: bigint; readonly ino: bigint }): Promise<LockVerdict> {
  if (process.platform !== 'linux') return { is: 'shared' };
  const name = `dropcast-folder-${process.geteuid?.()}-${directory.dev}-${directory.ino}`;
  const lock = await listen(`\0${name}`);
  if (lock !== null) return { is: 'held', lock };
  const pid = await ownProcessWith(name);
  return pid === null ? { is: 'shared' } : { is: 'rival', pid };
}

async function listen(name: string): Promise<AsyncDisposable | null> {
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(name, resolve);
    });
  } catch (error) {
    if (errnoOf(error) === 'EADDRINUSE') return null;
    throw error;
  }
  server.unref();
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** The process of our own user that has a socket of this name, from /proc. */
async function ownProcessWith(name: string): Promise<number | null> {
  const table = await readFile('/proc/self/net/unix', 'utf8').catch(() => '');
  const inodes = new Set(
    table
      .split('\n')
      .filter((line) => line.endsWith(` @${name}`))
      .map((line) => `socket:[${line.trim().split(/\s+/u)[6]}]`),
  );
  if (inodes.size === 0) return null;
  for (const pid of await readdir('/proc')) if (/^\d+$/u.test(pid) && (await hasOne(pid, inodes))) return Number(pid);
  return null;
}

async function hasOne(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  try {
    if ((await stat(`/proc/${pid}`)).uid !== process.geteuid?.()) return false;
    const names = await readdir(`/proc/${pid}/fd`);
    const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
    return targets.some((target) => inodes.has(target));
  } catch {
    return false;
  }
}
