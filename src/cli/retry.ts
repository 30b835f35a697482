import type { RetryResult } from '../daemon/retry.ts';
import { commandDaemon } from './control.ts';
import { counted } from './output/format.ts';
import { printJson } from './output/json.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import { requireDaemonPlace } from './daemon-place.ts';
import { nameOf } from './show.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

export interface RetryOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly all?: boolean;
  readonly state?: readonly string[];
  readonly force?: boolean;
}

/** `--all`: every file that does not continue without help, or not yet. */
const allStates: readonly string[] = ['failed', 'held', 'retrying'];
const retriable: readonly string[] = [...allStates, 'skipped'];

/** `dropcast retry NAME… | --state STATES | --all`: retries failed, held, skipped and waiting files. */
export async function retry(shell: Shell, names: readonly string[], options: RetryOptions): Promise<number> {
  const states = options.all === true ? allStates : (options.state ?? []);
  if (names.length + states.length === 0) {
    throw new CommandError('name a file, or pass --state or --all', exitCodes.usage);
  }
  const unknown = states.find((state) => !retriable.includes(state));
  if (unknown !== undefined) {
    const message = `files in state "${escapeControls(unknown)}" cannot be retried; these states can: ${retriable.join(', ')}`;
    throw new CommandError(message, exitCodes.usage);
  }
  const config = await requireDaemonPlace(shell, options.config);
  const body = { names: names.map((name) => nameOf(shell, name)), states, force: options.force === true };
  const result = await commandDaemon<RetryResult>(config, '/retry', body);
  if (options.json === true) printJson(result, shell.stdout);
  else {
    shell.stdout.write(
      result.retried.length === 0
        ? 'Nothing to retry.\n'
        : `Retrying ${counted(result.retried.length, 'file')}: ${result.retried.join(', ')}\n`,
    );
    if (result.waited !== null)
      shell.stdout.write(`Everything was waiting: ${escapeControls(result.waited)}. Checking the service now.\n`);
    for (const { files, why } of result.left) shell.stdout.write(`Left ${counted(files, 'file')}: ${why}\n`);
    for (const { name, why } of result.refused) shell.stderr.write(`${escapeControls(name)}: ${escapeControls(why)}\n`);
  }
  return result.refused.length > 0 ? exitCodes.failed : exitCodes.fine;
}
