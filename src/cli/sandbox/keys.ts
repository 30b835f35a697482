import type { KeyView } from '@dropcast/sandbox';
import { tableOptions } from '../output/file-table.ts';
import { formatCount, formatMoment, UNKNOWN } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { renderTable } from '../output/table.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { atDesk, type DeskOptions } from './desk.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface KeysOptions extends DeskOptions {
  readonly json?: boolean;
}

/** `dropcast sandbox keys list`: all keys, revoked ones included, and how they are used. */
export async function listKeys(shell: Shell, options: KeysOptions): Promise<void> {
  const keys = await atDesk(shell, options, async (desk) => desk.list());
  if (options.json === true) printJson({ keys }, shell.stdout);
  else shell.stdout.write(keyTable(keys, shell));
}

/** `dropcast sandbox keys create`: prints the value alone on stdout, only this once. */
export async function createKey(
  shell: Shell,
  name: string,
  options: KeysOptions & { readonly readOnly?: boolean },
): Promise<void> {
  if (name.trim() === '') throw new CommandError('the name of a key must not be empty', exitCodes.usage);
  const made = await atDesk(shell, options, async (desk) => desk.create(name, options.readOnly === true));
  if (options.json === true) return printJson(made, shell.stdout);
  const kind = made.read_only ? 'read-only key' : 'key';
  shell.stderr.write(`Created ${kind} ${made.id} "${escapeControls(made.name)}". Its value is shown only once:\n`);
  shell.stdout.write(`${made.key}\n`);
}

/** `dropcast sandbox keys revoke`: the service refuses the key from now on. */
export async function revokeKey(shell: Shell, id: string, options: KeysOptions): Promise<void> {
  const key = await atDesk(shell, options, async (desk) => desk.revoke(id));
  if (!key)
    throw new CommandError(`no key ${escapeControls(id)}; dropcast sandbox keys list shows all keys`, exitCodes.failed);
  if (options.json === true) printJson(key, shell.stdout);
  else shell.stdout.write(`Revoked ${key.id} "${escapeControls(key.name)}".\n`);
}

function keyTable(keys: readonly KeyView[], shell: Shell): string {
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
  const moment = (iso: string | null) => formatMoment(iso ?? undefined, Date.now(), shell.stdout.isTTY);
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.hint,
    key.read_only ? 'read' : 'all',
    moment(key.created_at),
    formatCount(key.use_count),
    moment(key.last_used_at),
    key.last_used_from ?? UNKNOWN,
    moment(key.revoked_at),
  ]);
  return renderTable(columns, rows, tableOptions(shell));
}
