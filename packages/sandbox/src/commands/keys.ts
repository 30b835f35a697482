import { exitCodes, type Shell, type Tables, type Terminal } from './terminal.ts';
import { type KeyView, KeyDesk } from '../admin/keys.ts';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AdminError, RemoteKeys } from '../admin/remote-keys.ts';
import { isLoopbackHost } from '../loopback.ts';
import { DataFolderError } from '../store/database.ts';
import { openRecords } from '../store/records.ts';
import { readAnnouncement } from '../data-folder.ts';

export interface KeysOptions extends DeskOptions {
  readonly json?: boolean;
}

/** Runs `keys list`: shows all keys, including revoked ones, and their usage. */
export async function listKeys(terminal: Terminal, options: KeysOptions, tables: () => Promise<Tables>): Promise<void> {
  const { shell } = terminal;
  const keys = await atDesk(terminal, options, async (desk) => desk.list());
  if (options.json === true) terminal.printJson({ keys }, shell.stdout);
  else shell.stdout.write(keyTable(keys, shell, await tables()));
}

/** Runs `keys create`: prints only the new key's value on stdout. It cannot be shown again. */
export async function createKey(
  terminal: Terminal,
  name: string,
  options: KeysOptions & { readonly readOnly?: boolean },
): Promise<void> {
  const { shell } = terminal;
  if (name.trim() === '') throw terminal.failure('the name of a key must not be empty', exitCodes.usage);
  const made = await atDesk(terminal, options, async (desk) => desk.create(name, options.readOnly === true));
  if (options.json === true) return terminal.printJson(made, shell.stdout);
  const kind = made.read_only ? 'read-only key' : 'key';
  const shown = terminal.escapeControls(made.name);
  shell.stderr.write(`Created ${kind} ${made.id} "${shown}". Its value is shown only once:\n`);
  shell.stdout.write(`${made.key}\n`);
}

/**
 * Runs `keys revoke`: the service refuses the key from now on. @param options.listedBy the command that lists all keys
 */
export async function revokeKey(
  terminal: Terminal,
  id: string,
  options: KeysOptions & { readonly listedBy: string },
): Promise<void> {
  const { shell, escapeControls } = terminal;
  const key = await atDesk(terminal, options, async (desk) => desk.revoke(id));
  if (!key)
    throw terminal.failure(`no key ${escapeControls(id)}; ${options.listedBy} shows all keys`, exitCodes.failed);
  if (options.json === true) terminal.printJson(key, shell.stdout);
  else shell.stdout.write(`Revoked ${key.id} "${escapeControls(key.name)}".\n`);
}

function keyTable(keys: readonly KeyView[], shell: Shell, { table, moment }: Tables): string {
  const columns = [
    { title: 'ID' },
    { title: 'NAME', cut: 'end' as const },
    { title: 'KEY' },
    { title: 'MAY' },
    { title: 'CREATED' },
    { title: 'USES', align: 'right' as const },
    { title: 'LAST USED' },
    { title: 'FROM' },
    { title: 'REVOKED' },
  ];
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.hint,
    key.read_only ? 'read' : 'all',
    moment(key.created_at, shell),
    key.use_count.toLocaleString('en'),
    moment(key.last_used_at, shell),
    key.last_used_from ?? '-',
    moment(key.revoked_at, shell),
  ]);
  return table(columns, rows, shell);
}

export interface DeskOptions {
  readonly adminUrl?: string;
  readonly token?: string;
  readonly ca?: string;
  readonly data?: string;
}

/** Manages keys, either of a running sandbox or in the records of a stopped one. */
interface Desk {
  list(): KeyView[] | Promise<KeyView[]>;
  create(name: string, isReadOnly: boolean): NewKeyView | Promise<NewKeyView>;
  revoke(id: string): KeyView | undefined | Promise<KeyView | undefined>;
}

type NewKeyView = KeyView & { readonly key: string };

/** Runs work at the desk that the options select. @throws a failure if they select none, or if the desk refuses */
export async function atDesk<T>(
  terminal: Terminal,
  options: DeskOptions,
  work: (desk: Desk) => Promise<T>,
): Promise<T> {
  try {
    if (options.adminUrl !== undefined) return await work(await remoteDesk(terminal, options, options.adminUrl));
    if (options.data !== undefined) return await workInFolder(terminal, options.data, work);
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const exitCode = error.code === 'unreachable' ? exitCodes.notRunning : exitCodes.failed;
    throw terminal.failure(error.message, exitCode, { cause: error });
  }
  throw terminal.failure(
    'which sandbox? Pass --data DIR (its data folder), or --admin-url URL with its admin token',
    exitCodes.usage,
  );
}

async function remoteDesk(terminal: Terminal, { token, ca }: DeskOptions, adminUrl: string): Promise<Desk> {
  const url = URL.parse(adminUrl);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw terminal.failure('--admin-url must be a URL such as http://127.0.0.1:8787/_sandbox', exitCodes.usage);
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw terminal.failure(
      '--admin-url: plain http would expose the token; use https for another machine',
      exitCodes.usage,
    );
  const known = token ?? terminal.shell.env['DROPCAST_SANDBOX_TOKEN'];
  if (known === undefined || known === '')
    throw terminal.failure('pass the admin token in $DROPCAST_SANDBOX_TOKEN or with --token', exitCodes.usage);
  return new RemoteKeys({ adminUrl, token: known, ca: ca === undefined ? undefined : await readCa(terminal, ca) });
}

async function readCa(terminal: Terminal, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw terminal.failure(`--ca: cannot read ${path}`, exitCodes.usage, { cause: error });
  }
}

/** Works on a data folder. The lock on the records shows whether a sandbox is running; an announcement may be stale. */
async function workInFolder<T>(terminal: Terminal, folder: string, work: (desk: Desk) => Promise<T>): Promise<T> {
  const path = join(folder, 'sandbox.db');
  if (!existsSync(path)) throw terminal.failure(`${folder} has no sandbox records`, exitCodes.failed);
  const records = openUnlessHeld(terminal, path);
  if (!records) return work(await announcedDesk(terminal, folder));
  try {
    const events = { emit: () => undefined };
    return await work(new KeyDesk({ keys: records.keys, clock: { nowMs: Date.now }, events }));
  } finally {
    records.database.close();
  }
}

function openUnlessHeld(terminal: Terminal, path: string): ReturnType<typeof openRecords> | undefined {
  try {
    return openRecords(path);
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    if (error.reason === 'in use') return undefined;
    throw terminal.failure(error.message, exitCodes.failed, { cause: error });
  }
}

async function announcedDesk(terminal: Terminal, folder: string): Promise<Desk> {
  const announced = await readAnnouncement(folder);
  if (!announced)
    throw terminal.failure(`a sandbox is using ${folder}, but its sandbox.json cannot be read`, exitCodes.failed);
  const { admin_url: adminUrl, admin_token: token, ca_path: caPath } = announced;
  return new RemoteKeys({ adminUrl, token, ca: caPath === undefined ? undefined : await readCa(terminal, caPath) });
}
