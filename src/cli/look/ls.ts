import { filesOf } from '../../view/files/files-view.ts';
import type { FilesView } from '../../view/files/files-view.ts';
import { queryWords } from '../../view/files/query.ts';
import type { StatusView } from '../../view/picture/documents.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { leftOutWords } from '../../watch/inventory.ts';
import { queryDaemonOrLedger, queryRunningDaemon } from '../control.ts';
import type { DaemonPlace } from '../control.ts';
import { fileTable } from '../output/file-table.ts';
import { counted, formatCount } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { tableOf } from '../output/table.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { queryGiven } from '../query-given.ts';
import type { SelectionOptions } from '../query-given.ts';
import type { Shared } from '../registry.ts';
import type { Shell } from '../shell.ts';

export interface LsOptions extends Shared, SelectionOptions {
  readonly after?: string;
  readonly counts?: boolean;
  readonly leftOut?: boolean;
  readonly limit: number;
}

/** `dropcast ls`: lists files, newest first. */
export async function ls(shell: Shell, options: LsOptions): Promise<void> {
  const { after, limit, counts: isCounted = false } = options;
  const { query, selection } = queryGiven(shell, options);
  const config = await requireDaemonPlace(shell, options.config);
  if (options.leftOut === true) return lsLeftOut(shell, config, options.json === true);
  const asked = new URLSearchParams({ limit: String(limit), ...(isCounted && { counts: '1' }) });
  for (const word of queryWords) if (query[word] !== undefined) asked.set(word, query[word]);
  if (after !== undefined) asked.set('after', after);
  const view = await queryDaemonOrLedger<FilesView>(shell, config, `/files?${asked.toString()}`, (ledger) =>
    ledger === null
      ? Promise.resolve(nothing)
      : filesOf(ledger, null, { selection, range: { after, limit }, isCounted }),
  );
  if (options.json === true) printJson(view, shell.stdout);
  else if (view.total === 0) shell.stderr.write('No files found.\n');
  else if (view.counts !== undefined) shell.stdout.write(countsTable(view.counts, shell));
  else printPage(view, shell);
}

/** Lists files that no `include` pattern selects. Only the daemon has scanned for them. */
async function lsLeftOut(shell: Shell, config: DaemonPlace, isJson: boolean): Promise<void> {
  const { folders } = await queryRunningDaemon<StatusView>(config, '/status?all=1');
  const all = folders.map(({ path, left_out: leftOut }) => ({ folder: path, ...leftOut }));
  if (isJson) return printJson({ v: 1, folders: all }, shell.stdout);
  for (const { folder, paths } of all)
    for (const path of paths) shell.stdout.write(`${escapeControls(`${folder}/${path}`)}\n`);
  for (const { folder, ...leftOut } of all.filter(({ files }) => files > 0))
    shell.stderr.write(`${escapeControls(folder)}: ${leftOutWords(leftOut)}.\n`);
}

const nothing: FilesView = { v: 1, files: [], settling: [], total: 0, next: null, previous: null, newest: null };

function printPage({ files, settling, total, next }: FilesView, shell: Shell): void {
  if (files.length + settling.length > 0) shell.stdout.write(fileTable(files, shell, settling));
  const shown = `${formatCount(files.length + settling.length)} of ${counted(total, 'file')}`;
  if (next !== null) shell.stderr.write(`${shown}; the next ones: --after ${next}, or raise --limit.\n`);
  else if (files.length === 0 && settling.length < total) shell.stderr.write(`${shown}; for more raise --limit.\n`);
}

function countsTable(counts: NonNullable<FilesView['counts']>, shell: Shell): string {
  // `states`, used in JSON, counts the same files a second time.
  const { total, states: _, ...properties } = counts;
  const names: Readonly<Record<keyof typeof properties, string>> = {
    stages: '--state',
    folders: '--folder',
    channels: '--channel',
    feeds: '--feed',
    causes: '--cause',
  };
  const rows = Object.entries(properties).flatMap(([property, values]) =>
    values.map((counted) => ({ option: names[property as keyof typeof properties], ...counted })),
  );
  return tableOf(
    [...rows, { option: 'all', value: '', files: total }],
    [
      ['OPTION', ({ option }) => option],
      ['VALUE', ({ value }) => value, { cut: 'middle' }],
      ['FILES', ({ files }) => formatCount(files), { align: 'right' }],
    ],
    shell,
  );
}
