import type { Dismissed } from '../../daemon/commands/dismiss.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { suspectsOf } from '../../view/files/suspects.ts';
import type { SuspectsView } from '../../view/files/suspects.ts';
import { commandDaemon, queryDaemonOrLedger } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { shortPath } from '../output/file-table.ts';
import { counted, formatRelative } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { tableOf } from '../output/table.ts';
import type { Shared } from '../registry.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface SuspectsOptions extends Shared {
  readonly dismiss?: readonly string[];
}

/**
 * `dropcast suspects`: lists records that dropcast may have left empty on the service; with `--dismiss`, forgets them.
 */
export async function suspects(shell: Shell, { config, json, dismiss }: SuspectsOptions): Promise<number> {
  const place = await requireDaemonPlace(shell, config);
  if (dismiss !== undefined) {
    const result = await commandDaemon<Dismissed>(place, '/suspects/dismiss', { names: dismiss });
    printResult(result, { shell, json }, () => `Dismissed ${counted(result.dismissed.length, 'record')}.\n`);
    for (const { name, why } of result.refused) shell.stderr.write(`${escapeControls(name)}: ${escapeControls(why)}\n`);
    return result.refused.length > 0 ? exitCodes.failed : exitCodes.fine;
  }
  const view = await queryDaemonOrLedger<SuspectsView>(shell, place, '/suspects', async (ledger) =>
    ledger === null ? { v: 1, suspects: [] } : suspectsOf(ledger, null),
  );
  printResult(view, { shell, json }, () =>
    view.suspects.length === 0 ? 'No records are empty.\n' : suspectsTable(view, shell),
  );
  return exitCodes.fine;
}

function suspectsTable({ suspects }: SuspectsView, shell: Shell): string {
  return tableOf(
    suspects,
    [
      ['NAME', ({ name }) => name],
      ['TITLE', ({ title }) => title, { cut: 'end' }],
      ['CREATED', ({ created }) => formatRelative(created, Date.now())],
      ['FILE', ({ path }) => shortPath(path, shell), { cut: 'middle' }],
      ['WHY', ({ why }) => why, { cut: 'end' }],
    ],
    shell,
  );
}
