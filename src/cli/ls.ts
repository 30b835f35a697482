import { filesOf, knownStates } from '../daemon/view.ts';
import type { FilesView } from '../daemon/view.ts';
import { queryDaemonOrLedger } from './control.ts';
import { fileTable } from './file-table.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import { counted } from './output/format.ts';
import { printJson } from './output/json.ts';
import { requireLoadable } from './read-config.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

export interface LsOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly state?: readonly string[];
  readonly limit: number;
}

/** `dropcast ls`: the files, newest first. */
export async function ls(shell: Shell, options: LsOptions): Promise<void> {
  const states = options.state ?? [];
  const unknown = states.find((state) => !knownStates.includes(state));
  if (unknown !== undefined) {
    throw new CommandError(
      `unknown state "${escapeControls(unknown)}"; the states are: ${knownStates.join(', ')}`,
      exitCodes.usage,
    );
  }
  const config = await requireLoadable(shell, options.config);
  const filter = { states, limit: options.limit };
  const query = `/files?limit=${options.limit}&states=${encodeURIComponent(states.join(','))}`;
  const view = await queryDaemonOrLedger<FilesView>(shell, config, query, (ledger) =>
    ledger === null ? Promise.resolve({ v: 1, files: [], settling: [] }) : filesOf(ledger, null, filter),
  );
  if (options.json === true) printJson(view, shell.stdout);
  else if (view.files.length + view.settling.length === 0) shell.stderr.write('No files found.\n');
  else shell.stdout.write(fileTable(view.files, shell, view.settling));
  if (view.files.length + view.settling.length === options.limit) {
    shell.stderr.write(`Stopped at ${counted(options.limit, 'file')}; there may be more: raise --limit.\n`);
  }
}
