import { readlinkSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { shellWord } from './shell-word.ts';

/** Errno names of a refusal that an access right ends. */
export function isRefusal(code: string): boolean {
  return code === 'EACCES' || code === 'EPERM';
}

/**
 * Why this process may not read a file or directory, and the command that lets it. Names the directory above that
 * cannot be entered, where there is one: a right on the file alone would change nothing.
 *
 * @param path absolute
 * @param code errno name of the refusal
 */
export async function whyClosed(path: string, kind: 'file' | 'directory', code: string): Promise<string> {
  const name = nameOf(path);
  const closed = await closedPath(name);
  const user = userOfProcess();
  const what = closed !== name || kind === 'directory' ? `open the directory ${closed}` : 'read this file';
  if (user === 'root')
    return `even root may not ${what} (${code}): the file server or FUSE refuses this machine's root`;
  return `user ${user} may not ${what} (${code}); run \`${grantCommand(closed, closed === name ? kind : 'directory', user)}\``;
}

/** What keeps an absolute path from being opened: the path itself, or the directory above it that cannot be entered. */
export async function closedPath(path: string): Promise<string> {
  let closed = path;
  while (closed !== '/' && !(await isVisible(closed))) closed = dirname(closed);
  return closed;
}

/**
 * The command that lets a user read a file, or list and enter a directory. It works on a file of mode 600 too:
 * setfacl(1) computes the mask anew, so that the entry takes effect.
 */
export function grantCommand(path: string, kind: 'file' | 'directory', user: string): string {
  return `sudo setfacl -m u:${user}:${kind === 'file' ? 'r' : 'rx'} -- ${shellWord(path)}`;
}

/** The number where there is no name, or one that setfacl(1) would read otherwise. */
export function userOfProcess(): string {
  const uid = String(process.geteuid?.() ?? '');
  try {
    const { username } = userInfo();
    return /^[\w][\w.-]*$/.test(username) ? username : uid;
  } catch {
    return uid;
  }
}

/** A file in a directory that is held open has a path by its descriptor. */
function nameOf(path: string): string {
  const descriptor = /^\/proc\/self\/fd\/\d+/.exec(path)?.[0];
  return descriptor === undefined ? path : readlinkSync(descriptor) + path.slice(descriptor.length);
}

/** lstat(2) needs no right on what it looks at, only on the directories above. */
async function isVisible(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && isRefusal(String(error.code)));
  }
}
