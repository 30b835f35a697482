import { suspectsOf } from '../../view/files/suspects.ts';
import type { SuspectsView } from '../../view/files/suspects.ts';
import type { Dismissed } from '../../daemon/commands/dismiss.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { commandDaemon, queryDaemonOrLedger } from '../control.ts';
import { renderFitting, shortPath } from '../output/file-table.ts';
import { counted, formatRelative } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface SuspectsOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly dismiss?: readonly string[];
}

/**
 * `dropcast suspects`: lists records that dropcast may have left empty on the service; with `--dismiss`, forgets them.
 */
export async function suspects(shell: Shell, { config: path, json, dismiss }: SuspectsOptions): Promise<number> {
  const config = await requireDaemonPlace(shell, path);
  if (dismiss !== undefined) {
    const result = await commandDaemon<Dismissed>(config, '/suspects/dismiss', { names: dismiss });
    if (json === true) printJson(result, shell.stdout);
    else shell.stdout.write(`Dismissed ${counted(result.dismissed.length, 'record')}.\n`);
    for (const { name, why } of result.refused) shell.stderr.write(`${escapeControls(name)}: ${escapeControls(why)}\n`);
    return result.refused.length > 0 ? exitCodes.failed : exitCodes.fine;
  }
  const view = await queryDaemonOrLedger<SuspectsView>(shell, config, '/suspects', (ledger) =>
    ledger === null ? Promise.resolve({ v: 1, suspects: [] }) : suspectsOf(ledger, null),
  );
  if (json === true) printJson(view, shell.stdout);
  else shell.stdout.write(view.suspects.length === 0 ? 'No records are empty.\n' : tableOf(view, shell));
  return exitCodes.fine;
}

function tableOf({ suspects }: SuspectsView, shell: Shell): string {
  const columns = [
    { title: 'NAME' },
    { title: 'TITLE', cut: 'end' as const },
    { title: 'CREATED' },
    { title: 'FILE', cut: 'middle' as const },
    { title: 'WHY', cut: 'end' as const },
  ];
  const rows = suspects.map(({ name, title, created, path, why }) => [
    name,
    title,
    formatRelative(created, Date.now()),
    shortPath(path, shell),
    why,
  ]);
  return renderFitting(columns, rows, shell);
}
