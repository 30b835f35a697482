import { createHash } from 'node:crypto';
import { ignore } from '../../../daemon/commands/ignore.ts';
import type { IgnoreResult } from '../../../daemon/commands/ignore.ts';
import { publish } from '../../../daemon/commands/publish.ts';
import type { PublishResult } from '../../../daemon/commands/publish.ts';
import { reapply } from '../../../daemon/commands/reapply.ts';
import { retry } from '../../../daemon/commands/retry.ts';
import type { RetryResult } from '../../../daemon/commands/retry.ts';
import type { CommandOptions, CommandResult } from '../../../daemon/commands/wanted.ts';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { FileSelection } from '../../../pipeline/file/selection.ts';

export interface BulkWanted {
  readonly selection: FileSelection;
  /** Empty unless the command needs a channel. */
  readonly channel: string;
}

export type BulkResult = Pick<CommandResult, 'files' | 'requests' | 'refused'> &
  Partial<Pick<IgnoreResult, 'left' | 'excludes'>> & {
    /** Ids of the files that the command changed; empty for a command on feeds. */
    readonly ids: readonly string[];
  };

/** Identifies a plan's files, to check whether another plan is about the same ones. */
export function digestOf({ ids }: Pick<BulkResult, 'ids'>): string {
  return createHash('sha256').update(ids.toSorted().join()).digest('hex').slice(0, 16);
}

/** A command that can be applied to many files at once. */
export interface BulkCommand {
  readonly name: string;
  /** The button's label. */
  readonly label: string;
  /** Effect of the command, in one sentence. */
  readonly deed: string;
  /** Describes the result in one sentence. @param files for example `3 files` */
  past(files: string): string;
  readonly needsChannel?: boolean;
  run(daemon: Daemon, wanted: BulkWanted, options: CommandOptions): Promise<BulkResult>;
}

/** Recorded in the row as who ignored the file. */
export const byPage = 'the status page';

export const bulkCommands: readonly BulkCommand[] = [
  {
    name: 'retry',
    label: 'Retry',
    deed: 'Retries files that failed, are held or wait at once, unless a retry cannot help.',
    past: (files) => `${files} will be retried at once.`,
    run: (daemon, { selection }, options) => retried(retry(daemon, { names: [], selection }, options)),
  },
  {
    name: 'ignore',
    label: 'Ignore',
    deed: 'dropcast leaves these files alone until their content changes or you retry them.',
    past: (files) => `${files} ignored.`,
    run: async (daemon, { selection }, options) => {
      const result = await ignore(daemon, { names: [], selection, by: byPage }, options);
      return { ...result, ids: result.done };
    },
  },
  {
    name: 'send elsewhere',
    label: 'Send to another channel',
    deed: 'Sends files that failed, are held or wait for their channel to a different channel than the one in their rule.',
    past: (files) => `${files} sent to another channel.`,
    needsChannel: true,
    run: (daemon, { selection, channel }, options) =>
      retried(retry(daemon, { names: [], selection, channel }, options)),
  },
  {
    name: 'publish',
    label: 'Publish',
    deed: 'Publishes the feeds of these files now, each with one request for everything that waits for it.',
    past: (files) => `${files} published.`,
    run: async (daemon, { selection }, options) => {
      const { feeds } = await daemon.ledger.selection.facets({ ...selection, states: ['awaiting publish'] });
      const waiting = new Set((await daemon.ledger.waiting()).map(({ feed }) => feed));
      const wanted = feeds.map(({ value }) => value).filter((feed) => waiting.has(feed));
      return published(await publish(daemon, { feeds: wanted }, options));
    },
  },
  {
    name: 'reapply',
    label: 'Apply the rules again',
    deed: 'Applies the current rules to these files again: changed metadata is sent, and their feeds are published again.',
    past: (files) => `The rules were applied again to ${files}.`,
    run: async (daemon, { selection }, options) => {
      const result = await reapply(daemon, { names: [], selection }, options);
      return { ...result, ids: result.changes.map(({ id }) => id) };
    },
  },
];

async function retried(asked: Promise<RetryResult>): Promise<BulkResult> {
  const result = await asked;
  return { ...result, ids: result.retried };
}

/** Counts only files whose feed was published. */
function published({ feeds, requests, refused }: PublishResult): BulkResult {
  const isDone = ({ is }: PublishResult['feeds'][number]): boolean => is !== 'failed' && is !== 'later';
  return {
    files: feeds.filter(isDone).reduce((sum, { files }) => sum + files, 0),
    requests,
    refused: [
      ...refused,
      ...feeds.filter((feed) => !isDone(feed)).map(({ feed, why }) => ({ name: feed, why: why ?? 'not published' })),
    ],
    ids: [],
  };
}
