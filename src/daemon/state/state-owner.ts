import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { serviceOf } from '../../config/installed-service.ts';
import { userAndGroup, userName } from '../../config/file-access.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { stateDirectory } from '../../ledger/state-directory.ts';

/**
 * Keeps root out of another user's state directory. That user could no longer open a ledger, receipt or copy that root
 * created there, and the service would fail at every start.
 *
 * @throws {LedgerError} names the owner and what to run instead
 */
export async function requireOwnState({ stateDir, file }: Pick<Config, 'stateDir' | 'file'>): Promise<void> {
  if (!isRoot()) return;
  const { uid = 0 } = (await statOrNull(stateDir)) ?? {};
  if (uid === 0) return;
  const name = await userName(uid);
  const service = serviceOf(file);
  const instead =
    service === null ? `run it as ${name}` : `\`sudo systemctl start ${service.name}\` runs it as the service`;
  throw new LedgerError(
    `${stateDirectory(stateDir)} belongs to ${name}, who cannot open files that root creates there: ${instead}`,
  );
}

/**
 * Makes root act as the state directory's owner for the rest of the process, so that the owner also owns every file
 * written there. Call after reading what only root may read.
 */
export async function actAsOwner(stateDir: string): Promise<void> {
  const owner = isRoot() ? await statOrNull(stateDir) : null;
  if (owner === null || owner.uid === 0) return;
  process.setegid?.(owner.gid);
  process.seteuid?.(owner.uid);
}

/**
 * Finds files in the state directory whose owner differs from the directory's. Checks only when run as root, who can
 * open them all.
 *
 * @returns a sentence with the command that fixes it, or null
 */
export async function strayFiles(stateDir: string): Promise<string | null> {
  const directory = isRoot() ? await statOrNull(stateDir) : null;
  if (directory === null) return null;
  const { uid, gid } = directory;
  const names = [...(await namesIn(stateDir)), ...(await namesIn(stateDir, 'backups'))];
  const found = await Promise.all(names.map((name) => statOrNull(join(stateDir, name))));
  const stray = names.filter((_, index) => (found[index]?.uid ?? uid) !== uid);
  if (stray.length === 0) return null;
  const command = `sudo chown -R ${await userAndGroup(uid, gid)} ${stateDir}`;
  return `${stateDirectory(stateDir)} belongs to ${await userName(uid)}, but these files in it do not: ${stray.join(', ')}; run \`${command}\``;
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

async function statOrNull(path: string): Promise<Stats | null> {
  return stat(path).catch(() => null);
}

/** Returns dropcast's own files only: an operator may store files of any owner here. */
async function namesIn(stateDir: string, below = ''): Promise<readonly string[]> {
  const entries = await readdir(join(stateDir, below)).catch(() => []);
  return entries.map((name) => join(below, name)).filter((path) => ours.test(path));
}

const ours =
  /^(?:ledger\.db(?:-\w+)?|ledger\.id|instance\.lock(?:-journal)?|page-token|receipts\.jsonl|failures\.jsonl|backups(?:\/ledger\.\d\.db)?)$/;
