import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { serviceOf } from '../../config/installed-service.ts';
import { userAndGroup, userName } from '../../config/file-access.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { stateDirectory } from '../../ledger/state-directory.ts';

/**
 * Keeps root out of the state directory of another user: a ledger, a receipt or a copy that root leaves there is one
 * that this user can no longer open, and the service would end at every start.
 *
 * @throws {LedgerError} that says whose it is and what to run instead
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
 * Lets root be the owner of the state directory for the rest of the process, after it has read what only root may read:
 * what it then writes there is the owner's.
 */
export async function actAsOwner(stateDir: string): Promise<void> {
  const owner = isRoot() ? await statOrNull(stateDir) : null;
  if (owner === null || owner.uid === 0) return;
  process.setegid?.(owner.gid);
  process.seteuid?.(owner.uid);
}

/**
 * For root, who can open them all: which files of the state directory have another owner than the directory itself.
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

/** Of dropcast's own files: what an operator puts aside here may be anybody's. */
async function namesIn(stateDir: string, below = ''): Promise<readonly string[]> {
  const entries = await readdir(join(stateDir, below)).catch(() => []);
  return entries.map((name) => join(below, name)).filter((path) => ours.test(path));
}

const ours =
  /^(?:ledger\.db(?:-\w+)?|ledger\.id|instance\.lock(?:-journal)?|page-token|receipts\.jsonl|failures\.jsonl|backups(?:\/ledger\.\d\.db)?)$/;
