import { createHash, randomUUID } from 'node:crypto';
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

/** The result of a command on many files, with file names. */
export interface Outcome {
  /** The first few files that the command changed. Paths are absolute. */
  readonly files: readonly { readonly id: string; readonly path: string }[];
  readonly left: readonly Left[];
  readonly refused: readonly Refused[];
}

/**
 * Stores the results of recent commands in memory, because file names do not belong in addresses. Without a stored
 * result, the page still shows the counts.
 */
export interface Outcomes {
  /** @returns the key for `find` */
  keep(result: BulkResult, pathOf: (id: string) => Promise<string | null>): Promise<string>;
  find(word: string): Outcome | null;
}

/** Maximum number of results stored. */
const mostKept = 50;

/** Maximum number of files named per result. */
export const mostNamed = 20;

export function createOutcomes(): Outcomes {
  const kept = new Map<string, Outcome>();
  return {
    keep: async ({ ids, left = [], refused }, pathOf) => {
      const named = await Promise.all(ids.slice(0, mostNamed).map(async (id) => ({ id, path: await pathOf(id) })));
      const files = named.flatMap(({ id, path }) => (path === null ? [] : [{ id, path }]));
      const word = randomUUID();
      kept.set(word, { files, left: left.slice(0, mostNamed), refused: refused.slice(0, mostNamed) });
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      return word;
    },
    find: (word) => kept.get(word) ?? null,
  };
}

/**
 * The result of a command on many files, as parameters of the address that the browser is redirected to: counts and
 * extensions, no file names.
 */
type NoticeWords = Readonly<Partial<Record<(typeof words)[number], string | undefined>>>;

const words = ['did', 'to_files', 'left', 'ending'] as const;

export function noticeWords(command: string, { files, refused, left = [], excludes = [] }: BulkResult): NoticeWords {
  const rest = left.reduce((sum, each) => sum + each.files, refused.length);
  const endings = excludes.flatMap(({ pattern }) => endingForm.exec(pattern)?.[1] ?? []);
  return {
    did: command,
    to_files: String(files),
    left: rest === 0 ? undefined : String(rest),
    ending: [...new Set(endings)].slice(0, mostEndings).join(','),
  };
}

const mostEndings = 5;
const endingForm = /^\*\*\/\*\.([A-Za-z0-9]{1,8})$/;

export function noticeOf(asked: URLSearchParams): NoticeWords {
  return Object.fromEntries(words.map((word) => [word, asked.get(word) ?? undefined]));
}

/**
 * Reports the last command's result, above the files. The text is fixed, so that a forged address cannot make the page
 * say anything else.
 *
 * @param outcome with file names; null when it is no longer stored
 */
export function notice(
  { did, to_files: files, left, ending }: NoticeWords,
  { query, outcome }: { readonly query: FileQuery; readonly outcome: Outcome | null },
): Html | '' {
  const command = bulkCommands.find(({ name }) => name === did);
  if (command === undefined || !isCount(files)) return '';
  const endings = (ending ?? '').split(',').filter((each) => endingForm.test(`**/*.${each}`));
  return html`<div class="notice-bar" role="status" data-key="notice">
    <p>
      ${command.past(counted(Number(files), 'file'))}
      ${isCount(left) ? `${counted(Number(left), 'file was', 'files were')} left as they are.` : ''}
      <a href="${filesAddress(query)}">Close</a>
    </p>
    ${outcome === null ? '' : byName(outcome, Number(files))}
    ${
      endings.length === 0
        ? ''
        : html`<p>
            To exclude such files in future, add this to their folder in the configuration:
            <code>exclude: [${endings.map((each) => `"**/*.${each}"`).join(', ')}]</code>
          </p>`
    }
  </div>`;
}

function byName({ files, left, refused }: Outcome, all: number): Html {
  const rest = all - files.length;
  return html`<ul>
      ${left.map((some) => html`<li>${leftWords(some)}</li>`)}
      ${refused.map(({ name, why }) => html`<li>${named(name)}: ${visibleText(why)}</li>`)}
    </ul>
    ${
      files.length === 0
        ? ''
        : html`<details data-key="done">
            <summary>Which files</summary>
            <ul>
              ${files.map(({ id, path }) => html`<li><a href="${fileAddress(id)}">${named(path)}</a></li>`)}
              ${rest > 0 ? html`<li>and ${counted(rest, 'more file')}, among those below</li>` : ''}
            </ul>
          </details>`
    }`;
}

function isCount(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,9}$/.test(text);
}

/** Lists files that a command left unchanged, and why. */
export function leftWords({ files, why, examples }: Left): Html {
  const rest = files - examples.length;
  return html`${counted(files, 'file')} left: ${visibleText(why)}:
  ${examples.map((path, n) => html`${n === 0 ? '' : ', '}${named(basename(path))}`)}${rest > 0 ? ` and ${grouped(rest)} more` : ''}`;
}
