import type { RetryResult } from '../../daemon/commands/retry.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { someNames } from '../../view/words/text.ts';
import { commandInSlices, costWords, printRefusals, wantedOf } from './wanted-files.ts';
import type { SelectionOptions } from '../query-given.ts';

export interface RetryOptions extends SelectionOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly all?: boolean;
  readonly force?: boolean;
  /** Channel to send the files to. */
  readonly to?: string;
  readonly plan?: boolean;
}

/** States for `--all`: every file that needs help to continue or is waiting for its next attempt. */
const allStates = 'failed,held,retrying';
const retriable: readonly string[] = [
  ...allStates.split(','),
  'queued',
  'uploading',
  'processing',
  'publishing',
  'skipped',
  'ignored',
];

/** `dropcast retry NAME… | --state STATES | --all`: retries failed, held, skipped and waiting files. */
export async function retry(shell: Shell, names: readonly string[], options: RetryOptions): Promise<number> {
  const { to: channel, all: isAll, force = false, plan: isPlanned = false, ...selecting } = options;
  const unknown = options.state?.split(',').find((state) => !retriable.includes(state.trim()));
  if (unknown !== undefined) {
    const message = `files in state "${escapeControls(unknown)}" cannot be retried; these states can: ${retriable.join(', ')}`;
    throw new CommandError(message, exitCodes.usage);
  }
  const wanted = wantedOf(shell, names, { ...selecting, ...(isAll === true && { state: options.state ?? allStates }) });
  if (wanted.names.length === 0 && wanted.selection === undefined)
    throw new CommandError(
      'name a file, select files by --state, --folder, --host, --cause or --query, or pass --all',
      exitCodes.usage,
    );
  const config = await requireDaemonPlace(shell, options.config);
  const body = { ...wanted, force, isPlanned, ...(channel !== undefined && { channel }) };
  const result = await commandInSlices<RetryResult>(config, '/retry', body);
  if (options.json === true) {
    printJson(result, shell.stdout);
    return result.refused.length > 0 ? exitCodes.failed : exitCodes.fine;
  }
  for (const line of retryLines(result, channel)) shell.stdout.write(`${escapeControls(line)}\n`);
  return printRefusals(shell, result);
}

/** Formats the result as text; `--json` also lists every id. Pure. */
export function retryLines(result: RetryResult, channel?: string): readonly string[] {
  const { files, planned, mend, examples, waited } = result;
  const to = channel === undefined ? '' : ` to channel ${channel}`;
  const lines: string[] = [];
  if (waited !== null && !planned) lines.push(`Checking the service now; files wait: ${waited.replace(/\.$/, '')}.`);
  if (files === 0) lines.push(waited === null ? 'Nothing to retry.' : 'No failed files need a retry.');
  else if (planned) lines.push(`${counted(files, 'file')} would be retried${to}, with ${costWords(result)}.`);
  else lines.push(`${counted(files, 'file')} will be retried${to}: ${someNames(examples, files)}.`);
  for (const { rule, channel: said, at } of mend)
    lines.push(`The next files go to ${said} as before: correct ${rule}${at === null ? '' : ` (${at})`}.`);
  return lines;
}
