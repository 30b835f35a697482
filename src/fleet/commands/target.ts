import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config, LedgerConfig } from '../../config/config.ts';
import { isOnThisMachine, parseLedgerAddress, passwordIn } from '../../config/ledger-address.ts';
import { secret } from '../../config/secret.ts';
import { CommandError, exitCodes } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';

export interface TargetOptions {
  readonly passwordFile?: string;
  readonly ca?: string;
}

/**
 * The database that an address names. Where it is that of the configuration, its password and certificates are used.
 *
 * @param address true: that of the configuration
 * @throws {CommandError}
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
