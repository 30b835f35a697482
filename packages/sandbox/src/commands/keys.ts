import { atDesk, type DeskOptions } from './desk.ts';
import { exitCodes, type Shell, type Tables, type Terminal } from './terminal.ts';
import type { KeyView } from '../admin/keys.ts';

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
