import { readFile } from 'node:fs/promises';

/** How a sentence names the user: by the name of passwd(5), else as `user 1001`, as with users of a directory service. */
export async function userName(uid: number): Promise<string> {
  return (await nameOf(uid)) ?? `user ${uid}`;
}

/** For chown(1): with the group of the user, which is `gid` where the user has no name. */
export async function userAndGroup(uid: number, gid: number): Promise<string> {
  const name = await nameOf(uid);
  return name === null ? `${uid}:${gid}` : `${name}:`;
}

async function nameOf(uid: number): Promise<string | null> {
  const table = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const entries = table.split('\n').map((line) => line.split(':'));
  return entries.find(([, , id]) => id === String(uid))?.[0] ?? null;
}
