import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { counted, grouped, named, visibleText, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { ignore, type IgnoreResult } from '../../../daemon/commands/ignore.ts';
import { publish, type PublishResult } from '../../../daemon/commands/publish.ts';
import { reapply } from '../../../daemon/commands/reapply.ts';
import { retry, type RetryResult } from '../../../daemon/commands/retry.ts';
import type { CommandOptions, CommandResult, Left, Refused } from '../../../daemon/commands/wanted.ts';
import type { Daemon } from '../../../daemon/daemon.ts';
import type { FileSelection } from '../../../pipeline/file/selection.ts';
import type { FileQuery } from '../../../view/files/query.ts';
import { fileAddress, filesAddress } from '../elements.ts';

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

/** The result of a command on many files. */
export interface Outcome {
  readonly done: string;
  /** Number of files that the command left as they are. */
  readonly rest: number;
  /** The first files that the command changed. Paths are absolute. */
  readonly named: readonly { readonly id: string; readonly path: string }[];
  /** Number of changed files that are not named. */
  readonly more: number;
  readonly left: readonly Left[];
  readonly refused: readonly Refused[];
  /** Patterns that would exclude such files. */
  readonly excludes: readonly string[];
}

/** Maximum number of files named per result. */
export const mostNamed = 20;

/** Maximum number of patterns per result. */
const mostExcludes = 5;

/** Sums up a command's result. @param pathOf returns the path of a file; null if it has no row */
export async function outcomeOf(
  { past }: Pick<BulkCommand, 'past'>,
  { files, ids, refused, left = [], excludes = [] }: BulkResult,
  pathOf: (id: string) => Promise<string | null>,
): Promise<Outcome> {
  const first = await Promise.all(ids.slice(0, mostNamed).map(async (id) => ({ id, path: await pathOf(id) })));
  const named = first.flatMap(({ id, path }) => (path === null ? [] : [{ id, path }]));
  const patterns = new Set(excludes.map(({ pattern }) => pattern).filter((each) => plainPattern.test(each)));
  return {
    done: past(counted(files, 'file')),
    rest: left.reduce((sum, each) => sum + each.files, refused.length),
    named,
    more: named.length === 0 ? 0 : files - named.length,
    left: left.slice(0, mostNamed),
    refused: refused.slice(0, mostNamed),
    excludes: [...patterns].slice(0, mostExcludes),
  };
}

/** Other patterns would need more than quotes in YAML. */
const plainPattern = /^\*\*\/\*\.[A-Za-z0-9]{1,8}$/;

/** Reports the last command's result, above the files. */
export function notice({ done, rest, named: files, more, left, refused, excludes }: Outcome, query: FileQuery): Html {
  return html`<div class="notice-bar" role="status" data-key="notice">
    <p>
      ${done} ${rest > 0 ? `${counted(rest, 'file was', 'files were')} left as they are.` : ''}
      <a href="${filesAddress(query)}">Close</a>
    </p>
    <ul>
      ${left.map((some) => html`<li>${leftWords(some)}</li>`)}
      ${refused.map(({ name, why }) => html`<li>${named(name)}: ${visibleText(why)}</li>`)}
    </ul>
    ${
      files.length > 0 &&
      html`<details data-key="done">
        <summary>Which files</summary>
        <ul>
          ${files.map(({ id, path }) => html`<li><a href="${fileAddress(id)}">${named(path)}</a></li>`)}
          ${more > 0 && html`<li>and ${counted(more, 'more file')}, among those below</li>`}
        </ul>
      </details>`
    }
    ${
      excludes.length > 0 &&
      html`<p>
        To exclude such files in future, add this to their folder in the configuration:
        <code>exclude: [${excludes.map((each) => `"${each}"`).join(', ')}]</code>
      </p>`
    }
  </div>`;
}

/** Lists files that a command left unchanged, and why. */
export function leftWords({ files, why, examples }: Left): Html {
  const rest = files - examples.length;
  return html`${counted(files, 'file')} left: ${visibleText(why)}:
  ${examples.map((path, n) => html`${n === 0 ? '' : ', '}${named(basename(path))}`)}${rest > 0 ? ` and ${grouped(rest)} more` : ''}`;
}
