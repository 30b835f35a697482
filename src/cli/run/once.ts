import { viewsOf } from '../../view/files/file-view.ts';
import { settlingView } from '../../view/files/files-view.ts';
import { leftForYou } from '../../view/files/left-for-you.ts';
import { needsPerson } from '../../pipeline/file/reasons.ts';
import { waitWords } from '../../view/waits.ts';
import { isThere } from '../../disk/local-files.ts';
import { printJson } from '../output/json.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { fileTable } from '../output/file-table.ts';
import { requireConfig } from '../read-config.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { drain, openLog, startDaemonOrExplain } from './daemon-lifecycle.ts';
import { openProgress, watchUntilIdle } from './watch-progress.ts';

/**
 * `dropcast once`: processes the files in the folders now, shows progress, and returns when every file has ended. What earlier runs
 * left in the folders and only a person can settle counts too, run after run.
 */
export async function once(
  shell: Shell,
  options: { readonly config?: string; readonly json?: boolean; readonly wait: number },
): Promise<number> {
  shell.takeOverSignals();
  const config = await requireConfig(shell, options.config);
  // The progress display owns stderr, so the log shows errors only. Status, history and failures.jsonl have the rest.
  const { progress, lines } = openProgress(shell);
  const { logger, close } = openLog({ ...config, log: { ...config.log, level: 'error' } }, shell, lines);
  await using stack = new AsyncDisposableStack();
  stack.defer(close);
  const since = Date.now();
  const daemon = await startDaemonOrExplain(config, { shell, logger });
  stack.use(daemon);
  const end = await watchUntilIdle(daemon, progress, shell, { since, offlineMs: options.wait });
  const rows = await daemon.ledger.rows({ group: 'any', since, limit: 100_000 });
  const files = await viewsOf(daemon.ledger, daemon, rows);
  const settling = daemon.folders.settling().map(settlingView);
  const folders = config.folders.map(({ path }) => path);
  const ours = [...(await leftForYou(daemon.ledger, { folders, before: since }, isThere)), ...files];
  const waits = daemon.waits().filter(({ cause }) => cause === 'paused' || cause === 'folder');
  const adoption = await daemon.ledger.totals('adoption');
  await drain(daemon, shell);
  if (options.json === true) printJson({ v: 1, finished: end.is === 'idle', files: ours }, shell.stdout);
  else if (ours.length + settling.length > 0) shell.stdout.write(fileTable(ours, shell, settling));
  else if (end.is === 'idle' && waits.every(({ cause }) => cause !== 'folder'))
    shell.stdout.write('Nothing new in the folders.\n');
  if (end.is === 'stopped')
    throw new CommandError(
      'stopped before every file was finished; the next run continues from here',
      exitCodes.failed,
    );
  if (end.is === 'stuck')
    throw new CommandError(
      `${escapeControls(end.why)}\nFix this and run it again: it continues from here.`,
      exitCodes.failed,
    );
  const { files: left } = adoption;
  if (left > 0)
    shell.stderr.write(
      `${left} of these were in their folders before: \`dropcast adopt\` lists which the service has already. ` +
        'Run `dropcast adopt --confirm`, and then this again.\n',
    );
  if (waits.length > 0)
    throw new CommandError(
      waits.map((wait) => escapeControls(waitWords(wait, Date.now()))).join('\n'),
      exitCodes.failed,
    );
  return ours.some(needsPerson) ? exitCodes.failed : exitCodes.fine;
}
