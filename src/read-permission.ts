import { readlinkSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { shellWord } from './shell-word.ts';

/** Whether an errno name means a refusal that granting access would fix. */
export function isRefusal(code: string): boolean {
  return code === 'EACCES' || code === 'EPERM';
}

/**
 * Explains why this process may not read a file or directory, with the command that grants access. Names a parent
 * directory if one cannot be entered: access to the file alone would not help.
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

/**
 * Returns what keeps an absolute path from being opened: the path itself, or a parent directory that cannot be entered.
 */
export async function closedPath(path: string): Promise<string> {
  let closed = path;
  while (closed !== '/' && !(await isVisible(closed))) closed = dirname(closed);
  return closed;
}

/**
 * Returns the command that lets a user read a file, or list and enter a directory. It also works on a file with mode
 * 600, because setfacl(1) recomputes the mask so that the entry takes effect.
 */
export function grantCommand(path: string, kind: 'file' | 'directory', user: string): string {
  return `sudo setfacl -m u:${user}:${kind === 'file' ? 'r' : 'rx'} -- ${shellWord(path)}`;
}

/** Returns the process's user; its number if it has no name, or one that setfacl(1) would read differently. */
export function userOfProcess(): string {
  const uid = String(process.geteuid?.() ?? '');
  try {
    const { username } = userInfo();
    return /^[\w][\w.-]*$/.test(username) ? username : uid;
  } catch {
    return uid;
  }
}

/** Resolves a path that goes through the descriptor of a directory held open. */
function nameOf(path: string): string {
  const descriptor = /^\/proc\/self\/fd\/\d+/.exec(path)?.[0];
  return descriptor === undefined ? path : readlinkSync(descriptor) + path.slice(descriptor.length);
}

/** lstat(2) needs no permission on the entry itself, only on the directories above it. */
async function isVisible(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && isRefusal(String(error.code)));
  }
}

/** The user that the installed services run as (systemd/dropcast.service). */
export const SERVICE_USER = 'dropcast';

/** Whether this process runs as `SERVICE_USER`. */
export function isServiceUser(): boolean {
  return userOfProcess() === SERVICE_USER;
}

/**
 * Returns a command for the operator. The installed service accepts commands only from root, so on its host they begin
 * with `sudo`. Pure.
 */
export function operatorCommand(command: string, isService = isServiceUser()): string {
  return isService ? `sudo ${command}` : command;
}
