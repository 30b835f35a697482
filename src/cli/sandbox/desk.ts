import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AdminError,
  DataFolderError,
  KeyDesk,
  RemoteKeys,
  isLoopbackHost,
  openRecords,
  readAnnouncement,
} from '@dropcast/sandbox';
import type { KeyView } from '@dropcast/sandbox';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface DeskOptions {
  readonly adminUrl?: string;
  readonly token?: string;
  readonly ca?: string;
  readonly data?: string;
}

/** Where keys are managed: at a running sandbox, or in the records of one that does not run. */
export interface Desk {
  list(): KeyView[] | Promise<KeyView[]>;
  create(name: string, isReadOnly: boolean): NewKeyView | Promise<NewKeyView>;
  revoke(id: string): KeyView | undefined | Promise<KeyView | undefined>;
}

type NewKeyView = KeyView & { readonly key: string };

/** Does the work at the desk that the options mean. @throws CommandError when there is none, or when it refuses */
export async function atDesk<T>(shell: Shell, options: DeskOptions, work: (desk: Desk) => Promise<T>): Promise<T> {
  try {
    if (options.adminUrl !== undefined) return await work(await remoteDesk(shell, options, options.adminUrl));
    if (options.data !== undefined) return await workInFolder(options.data, work);
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const exitCode = error.code === 'unreachable' ? exitCodes.notRunning : exitCodes.failed;
    throw new CommandError(error.message, exitCode, { cause: error });
  }
  throw new CommandError(
    'which sandbox? Pass --data DIR (its data folder), or --admin-url URL with its admin token',
    exitCodes.usage,
  );
}

async function remoteDesk({ env }: Shell, { token, ca }: DeskOptions, adminUrl: string): Promise<Desk> {
  const url = URL.parse(adminUrl);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new CommandError('--admin-url must be a URL such as http://127.0.0.1:8787/_sandbox', exitCodes.usage);
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw new CommandError(
      '--admin-url: plain http would expose the token; use https for another machine',
      exitCodes.usage,
    );
  const known = token ?? env['DROPCAST_SANDBOX_TOKEN'];
  if (known === undefined || known === '')
    throw new CommandError('pass the admin token in $DROPCAST_SANDBOX_TOKEN or with --token', exitCodes.usage);
  return new RemoteKeys({ adminUrl, token: known, ca: ca === undefined ? undefined : await readCa(ca) });
}

async function readCa(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandError(`--ca: cannot read ${path}`, exitCodes.usage, { cause: error });
  }
}

/** The lock on the records is the truth about whether a sandbox runs: its announcement may have outlived it. */
async function workInFolder<T>(folder: string, work: (desk: Desk) => Promise<T>): Promise<T> {
  const path = join(folder, 'sandbox.db');
  if (!existsSync(path)) throw new CommandError(`${folder} has no sandbox records`, exitCodes.failed);
  const records = openUnlessHeld(path);
  if (!records) return work(await announcedDesk(folder));
  try {
    const events = { emit: () => undefined };
    return await work(new KeyDesk({ keys: records.keys, clock: { nowMs: Date.now }, events }));
  } finally {
    records.database.close();
  }
}

function openUnlessHeld(path: string): ReturnType<typeof openRecords> | undefined {
  try {
    return openRecords(path);
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    if (error.reason === 'in use') return undefined;
    throw new CommandError(error.message, exitCodes.failed, { cause: error });
  }
}

async function announcedDesk(folder: string): Promise<Desk> {
  const announced = await readAnnouncement(folder);
  if (!announced)
    throw new CommandError(`a sandbox is using ${folder}, but its sandbox.json cannot be read`, exitCodes.failed);
  const { admin_url: adminUrl, admin_token: token, ca_path: caPath } = announced;
  return new RemoteKeys({ adminUrl, token, ca: caPath === undefined ? undefined : await readCa(caPath) });
}
