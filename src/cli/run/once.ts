import { isThere } from '../../disk/local-files.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { needsPerson } from '../../pipeline/file/reasons.ts';
import type { RowStore } from '../../pipeline/file/row-groups.ts';
import { type FileView, viewOf, viewsOf } from '../../view/files/file-view.ts';
import { settlingView } from '../../view/files/files-view.ts';
import { waitWords } from '../../view/waits.ts';
import { fileTable } from '../output/file-table.ts';
import { printJson } from '../output/json.ts';
import { requireConfig } from '../read-config.ts';
import type { Shared } from '../registry.ts';
import { CommandError, type Shell, exitCodes } from '../shell.ts';
import { drain, openLog, startDaemonOrExplain } from './daemon-lifecycle.ts';
import { openProgress, watchUntilIdle } from './watch-progress.ts';

/**
 * `dropcast once`: processes the files in the folders now, shows progress, and returns when every file is finished.
 * Files from earlier runs that still need the operator count too.
 */
export async function once(shell: Shell, options: Shared & { readonly wait: number }): Promise<number> {
  shell.takeOverSignals();
  const config = await requireConfig(shell, options.config);
  // The progress display uses stderr, so the log there shows only errors. The rest is in status, history and
  // failures.jsonl.
  const { progress, lines } = openProgress(shell);
  const { logger, close } = openLog({ ...config, log: { ...config.log, level: 'error' } }, shell, lines);
  await using stack = new AsyncDisposableStack();
  stack.defer(close);
  const since = Date.now();
  const daemon = await startDaemonOrExplain(config, { shell, logger });
  stack.use(daemon);
  const end = await watchUntilIdle(daemon, progress, shell, { since, offlineMs: options.wait });
  const rows = await daemon.ledger.rows({ group: 'any', where: { openSince: since }, limit: 100_000 });
  const files = await viewsOf(daemon.ledger, daemon, rows);
  const settling = daemon.folders.settling().map(settlingView);
  const folders = config.folders.map(({ path }) => path);
  const ours = [...(await leftForYou(daemon.ledger, { folders, before: since }, isThere)), ...files];
  const waits = daemon.waits().filter(({ cause }) => cause === 'paused' || cause === 'folder');
  const { files: left } = await daemon.ledger.totals('adoption');
  await drain(daemon, shell);
  if (options.json === true) printJson({ v: 1, finished: end.is === 'idle', files: ours }, shell.stdout);
  else if (ours.length + settling.length > 0) shell.stdout.write(fileTable(ours, shell, settling));
  else if (end.is === 'idle' && waits.every(({ cause }) => cause !== 'folder'))
    shell.stdout.write('Nothing new in the folders.\n');
  if (end.is === 'stopped')
    throw new CommandError('stopped before every file was finished; the next run continues from here');
  if (end.is === 'stuck')
    throw new CommandError(`${escapeControls(end.why)}\nFix this and run it again: it continues from here.`);
  if (left > 0)
    shell.stderr.write(
      `${left} of these were in their folders before: \`dropcast adopt\` lists which of them the service already has. ` +
        'Run `dropcast adopt --confirm`, then run this again.\n',
    );
  if (waits.length > 0)
    throw new CommandError(waits.map((wait) => escapeControls(waitWords(wait, Date.now()))).join('\n'));
  return ours.some(needsPerson) ? exitCodes.failed : exitCodes.fine;
}

const mostRows = 1_000_000;

/**
 * Files from earlier runs that need the operator: failed or held files, oldest first, then files that cannot be deleted
 * or moved.
 *
 * @param still.folders the watched folders
 * @param still.before epoch milliseconds; files that finished later belong to this run
 * @param isThere whether a file still exists at that path in a folder
 */
export async function leftForYou(
  ledger: RowStore<'any' | 'waiting for disk'>,
  still: { readonly folders: readonly string[]; readonly before: number },
  isThere: (folder: string, path: string) => Promise<boolean>,
): Promise<readonly FileView[]> {
  const isEarlier = ({ endedAt, folder }: Facts): boolean =>
    (endedAt ?? 0) < still.before && still.folders.includes(folder);
  const rows = await ledger.rows({ group: 'any', where: { states: ['failed', 'held'] }, limit: mostRows });
  const left: Facts[] = [];
  for (const facts of rows.filter(isEarlier)) if (await isThere(facts.folder, facts.path)) left.push(facts);
  const waiting = await ledger.rows({ group: 'waiting for disk', limit: mostRows });
  return [...left, ...waiting.filter(isEarlier).toReversed()].map((facts) => viewOf(null, facts));
}
