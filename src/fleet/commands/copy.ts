import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config, LedgerConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import { AlreadyRunningError, lockInstance } from '../../daemon/state/instance-lock.ts';
import { actAsOwner } from '../../daemon/state/state-owner.ts';
import { readFoundPlaces, sharedOf } from '../found-places.ts';
import type { Copied, CopyOptions } from '../copy/copy-ledger.ts';
import { copyToPostgres, copyToSqlite } from '../copy/move.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { nameOf } from '../postgres/client-config.ts';
import { openPool } from '../postgres/pool.ts';
import { counted } from '../../cli/output/format.ts';
import { printJson } from '../../cli/output/json.ts';
import { badConfig, locateConfig } from '../../cli/read-config.ts';
import { CommandError, exitCodes } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';
import { isOnThisMachine, parseLedgerAddress, passwordIn } from '../../config/addresses.ts';
import { secret } from '../../config/secret.ts';
import { localPlace } from '../places.ts';
import type { WatchedShare } from '../places.ts';

export interface CopyLedgerOptions extends TargetOptions {
  readonly config?: string;
  readonly to?: string | true;
  readonly from?: string | true;
  readonly json?: boolean;
}

/**
 * `dropcast ledger copy`: copies the ledger to PostgreSQL, or back.
 *
 * @throws {CommandError} with the reason; nothing was copied
 */
export async function copyLedgerCommand(shell: Shell, options: CopyLedgerOptions): Promise<void> {
  const { to, from } = options;
  const address = to ?? from;
  if (address === undefined || (to !== undefined && from !== undefined))
    throw new CommandError('give either --to ADDRESS or --from ADDRESS', exitCodes.usage);
  const config = await configWithSecrets(shell, options.config);
  const database = await databaseOf(address, { config, shell }, options);
  try {
    const copied = await copy(shell, config, { database, isTo: to !== undefined });
    if (options.json === true) printJson({ v: 1, tables: copied }, shell.stdout);
    else shell.stdout.write(report(copied, config, { database, isTo: to !== undefined }));
  } catch (error) {
    throw explained(error, config);
  }
}

interface Direction {
  readonly database: LedgerConfig;
  readonly isTo: boolean;
}

async function copy(shell: Shell, config: Config, { database, isTo }: Direction): Promise<readonly Copied[]> {
  const { stateDir, hostName, folders } = config;
  await actAsOwner(stateDir);
  await using _ = await lockInstance(stateDir);
  await using pool = await openPool(database, { hostName });
  const fleet = { pool, name: nameOf(database), user: database.user, hostName };
  const onProgress = progressOn(shell);
  const host = { hostName, shared: sharedOf(folders, await readFoundPlaces(stateDir)) };
  if (isTo) return await copyToPostgres(stateDir, fleet, { translated: toPlaces(host), onProgress });
  return await copyToSqlite(fleet, stateDir, { translated: toFolders(host), onProgress });
}

/** Draws a progress line that overwrites itself. */
function progressOn({ stderr }: Shell) {
  return ({ table, rows, of }: { readonly table: string; readonly rows: number; readonly of: number }): void => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${table}: ${rows} of ${of}${rows === of ? '\r\x1b[K' : ''}`);
  };
}

function report(copied: readonly Copied[], { stateDir, file, ledger }: Config, { database, isTo }: Direction): string {
  const rows = (table: string): number => copied.find((each) => each.table === table)?.rows ?? 0;
  const name = nameOf(database);
  const isSet = ledger?.url === database.url;
  const what = `Copied and compared ${counted(rows('file'), 'file')} and ${counted(rows('history'), 'line')} of history`;
  const next = isTo
    ? `${isSet ? 'Now start dropcast' : `Now set \`ledger: ${database.url}\` in ${file}, and start dropcast`}. The ledger in ${stateDir} stays as it is, and is no longer used.`
    : `Now remove \`ledger\` from ${file}, and start dropcast. The ledger of ${name} stays as it is.`;
  return `${what} ${isTo ? `to ${name}` : `from ${name} to ${stateDir}`}.\n${next}\n`;
}

async function configWithSecrets(shell: Shell, option: string | undefined): Promise<Config> {
  const { config, problems } = await loadConfig(await locateConfig(shell, option), shell);
  if (config !== null) return config;
  throw badConfig(problems, shell.cwd);
}

function explained(error: unknown, { stateDir }: Config): unknown {
  if (error instanceof AlreadyRunningError)
    return new CommandError(
      `dropcast runs with the state directory ${stateDir}: stop it first (\`sudo systemctl stop dropcast\`), on every host`,
    );
  return error instanceof LedgerError ? new CommandError(error.message, exitCodes.failed, { cause: error }) : error;
}

export interface TargetOptions {
  readonly passwordFile?: string;
  readonly ca?: string;
}

/**
 * Finds the database that an address names. The configured password and certificates apply if the address names the
 * configured database.
 *
 * @param address true: the configured database
 * @throws {CommandError} if the address is missing or invalid, or a file cannot be read
 */
export async function databaseOf(
  address: string | true,
  { config, shell }: { readonly config: Config; readonly shell: Shell },
  { passwordFile, ca }: TargetOptions,
): Promise<LedgerConfig> {
  const own = config.ledger;
  if (address === true) {
    if (own !== null) return own;
    throw wrong(`${config.file} has no ledger; name the database, like postgres://dropcast@db.example.com/dropcast`);
  }
  const parsed = parseLedgerAddress(address);
  if (!parsed.ok) throw wrong(parsed.message);
  const place = parsed.value;
  const isOwn = own !== null && (['host', 'port', 'user', 'database'] as const).every((key) => own[key] === place[key]);
  const password = passwordFile === undefined ? passwordIn(address) : await read(shell, passwordFile);
  const authorities = ca === undefined ? null : await read(shell, ca);
  return {
    ...place,
    password: password === null ? (isOwn ? own.password : null) : secret(password),
    ca: authorities ?? (isOwn ? own.ca : null),
    unread: null,
    tls: isOwn && ca === undefined ? own.tls : ca !== undefined || !isOnThisMachine(place.host),
  };
}

async function read(shell: Shell, path: string): Promise<string> {
  try {
    return (await readFile(resolve(shell.cwd, path), 'utf8')).replace(/(?:\r?\n)+$/, '');
  } catch (error) {
    throw wrong(`cannot read ${path}: ${error instanceof Error ? error.message : ''}`);
  }
}

function wrong(message: string): CommandError {
  return new CommandError(message, exitCodes.usage);
}

type Translated = CopyOptions['translated'];

interface HostFolders {
  readonly hostName: string;
  /** Folders declared as shares, or proved to be shared. */
  readonly shared: readonly WatchedShare[];
}

/** Translates this host's folders to place names: `nas1:` for a share, `ingest1:/srv/in` for a local folder. */
export function toPlaces({ hostName, shared }: HostFolders): Translated {
  const shares = new Map(shared.map(({ path, place }) => [path, place]));
  return (folder, table) => {
    // A row that was copied from a fleet earlier may name another host's folder.
    if (!folder.startsWith('/')) return folder;
    const place = shares.get(folder);
    // Root rows stay local: each host records which directory a folder is.
    return place === undefined || table === 'root' ? localPlace(hostName, folder) : place;
  };
}

/**
 * Translates place names to this host's folders. Folders of other hosts keep their place names, which are not paths, so
 * they are not watched here.
 */
export function toFolders({ hostName, shared }: HostFolders): Translated {
  const own = localPlace(hostName, '');
  const shares = new Map(shared.map(({ path, place }) => [place, path]));
  return (place, table) => {
    const share = shares.get(place);
    if (share !== undefined && table !== 'root') return share;
    const folder = place.startsWith(`${own}/`) ? place.slice(own.length) : place;
    // Rows from before the folder became a share keep their local place name.
    const isBefore = table !== 'root' && shared.some(({ path }) => path === folder);
    return isBefore ? place : folder;
  };
}
