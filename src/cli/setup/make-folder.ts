import { chmod, chown, mkdir, mkdtemp, rename, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CommandError } from '../shell.ts';
import type { Shell } from '../shell.ts';
import type { FolderAnswer } from './check-folder.ts';
import { runProgram } from './systemctl.ts';
import { SERVICE_USER } from '../../read-permission.ts';

/**
 * Creates a folder for a group. Files dropped there belong to that group, so the service can read them. The owner is
 * the user who ran sudo. An existing folder is left unchanged.
 *
 * @param group null for the service's group
 */
export async function makeFolder(
  { path, isThere }: FolderAnswer,
  group: string | null,
  { env }: Shell,
): Promise<string> {
  if (isThere) return `${path} is there`;
  if (group !== null) await runProgram('groupadd', '--force', group);
  const gid = await groupId(group ?? SERVICE_USER);
  const owner = /^\d+$/.test(env['SUDO_UID'] ?? '') ? Number(env['SUDO_UID']) : 0;
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  // The folder has a temporary name until it is complete. After a power cut, an incomplete folder under the final name
  // would count as existing and stay unchanged.
  const made = await mkdtemp(join(dirname(path), `.${basename(path)}.`));
  try {
    await chown(made, owner, gid);
    await chmod(made, 0o2770);
    await rename(made, path);
  } catch (error) {
    await rmdir(made).catch(() => undefined);
    throw error;
  }
  return `created ${path}, for the group ${group ?? SERVICE_USER}`;
}

async function groupId(name: string): Promise<number> {
  const [, , gid = ''] = (await runProgram('getent', 'group', name)).split(':');
  if (/^\d+$/.test(gid)) return Number(gid);
  throw new CommandError(`there is no group ${name}`);
}

/** ID of the group that reads the service's configuration. */
export function serviceGroup(): Promise<number> {
  return groupId(SERVICE_USER);
}
