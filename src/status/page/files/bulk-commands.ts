import { ignore } from '../../../daemon/commands/ignore.ts';
import { retry } from '../../../daemon/commands/retry.ts';
import type { CommandOptions, CommandResult } from '../../../daemon/commands/wanted.ts';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { FileSelection } from '../../../pipeline/file/selection.ts';

/** Who gave a command, for the row of a file: the page knows no names. */
export const BY_THE_PAGE = 'somebody on the page';

/** What may be done with many files at once. */
export interface BulkCommand {
  readonly name: string;
  /** On its button, and before the number of files: `Retry`. */
  readonly label: string;
  /** What it does, in one sentence. */
  readonly deed: string;
  run(daemon: Daemon, selection: FileSelection, options: CommandOptions): Promise<CommandResult>;
}

export const bulkCommands: readonly BulkCommand[] = [
  {
    name: 'retry',
    label: 'Retry',
    deed: 'Files that failed, are held or wait are tried again at once, if their cause may be cured by now.',
    run: (daemon, selection, options) => retry(daemon, { names: [], selection }, options),
  },
  {
    name: 'ignore',
    label: 'Ignore',
    deed: 'Files that wait, failed or are held are left alone from now on; what is being uploaded is cut. A retry takes them again.',
    run: (daemon, selection, options) => ignore(daemon, { names: [], selection, by: BY_THE_PAGE }, options),
  },
];
