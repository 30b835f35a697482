import { ignore } from '../../../daemon/commands/ignore.ts';
import { publish } from '../../../daemon/commands/publish.ts';
import { reapply } from '../../../daemon/commands/reapply.ts';
import { retry } from '../../../daemon/commands/retry.ts';
import type { CommandOptions, CommandResult } from '../../../daemon/commands/wanted.ts';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { FileSelection } from '../../../pipeline/file/selection.ts';

export interface BulkWanted {
  readonly selection: FileSelection;
  /** Only for a command that needs one. */
  readonly channel: string;
}

type BulkResult = Pick<CommandResult, 'files' | 'requests' | 'refused'> & Partial<Pick<CommandResult, 'left'>>;

/** What may be done with many files at once. */
export interface BulkCommand {
  readonly name: string;
  /** On its button. */
  readonly label: string;
  /** What it does, in one sentence. */
  readonly deed: string;
  readonly needsChannel?: boolean;
  run(daemon: Daemon, wanted: BulkWanted, options: CommandOptions): Promise<BulkResult>;
}

/** Who ignores a file, for its row. */
export const byPage = 'the status page';

export const bulkCommands: readonly BulkCommand[] = [
  {
    name: 'retry',
    label: 'Retry',
    deed: 'Files that failed, are held or wait are tried again at once, unless a retry cannot help.',
    run: (daemon, { selection }, options) => retry(daemon, { names: [], selection }, options),
  },
  {
    name: 'ignore',
    label: 'Ignore',
    deed: 'dropcast leaves these files alone until their content changes or you retry them.',
    run: (daemon, { selection }, options) => ignore(daemon, { names: [], selection, by: byPage }, options),
  },
  {
    name: 'send elsewhere',
    label: 'Send to another channel',
    deed: 'Files that failed or are held go to another channel than their rule says.',
    needsChannel: true,
    run: (daemon, { selection, channel }, options) => retry(daemon, { names: [], selection, channel }, options),
  },
  {
    name: 'publish',
    label: 'Publish',
    deed: 'The feeds that wait for these files are published now, each with one request for all that waits for it.',
    run: async (daemon, { selection }, options) => {
      const { feeds } = await daemon.ledger.selection.facets({ ...selection, states: ['awaiting publish'] });
      return publish(daemon, { feeds: feeds.map(({ value }) => value) }, options);
    },
  },
  {
    name: 'reapply',
    label: 'Apply the rules again',
    deed: 'The current rules decide about these files again: changed metadata is sent, and their feeds are published again.',
    run: (daemon, { selection }, options) => reapply(daemon, { names: [], selection }, options),
  },
];
