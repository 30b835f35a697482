import { retryMany } from '../../../daemon/commands/retry-many.ts';
import type { ManyResult } from '../../../daemon/commands/retry-many.ts';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { FileSelection } from '../../../pipeline/file/selection.ts';

/** What may be done with many files at once. */
export interface BulkCommand {
  readonly name: string;
  /** On its button, and before the number of files: `Retry`. */
  readonly label: string;
  /** What it does, in one sentence. */
  readonly deed: string;
  run(daemon: Daemon, selection: FileSelection, options: { readonly isPlanned?: boolean }): Promise<ManyResult>;
}

export const bulkCommands: readonly BulkCommand[] = [
  {
    name: 'retry',
    label: 'Retry',
    deed: 'Files that failed, are held or wait are tried again at once, if their cause may be cured by now.',
    run: retryMany,
  },
];
