import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { clockTime } from '../../view/words/text.ts';
import { limitSentence } from '../../view/outlook.ts';
import type { PlanProgress } from '../../daemon/plan/plan.ts';
import type { PlanLine } from '../../daemon/plan/stream.ts';
import type { PlanView } from '../../daemon/plan/summary.ts';
import { ControlError } from '../../daemon/control/client.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { streamDaemonOrLedger } from '../control.ts';
import { shortPath } from '../output/file-table.ts';
import { counted, formatBytes } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { tableOf } from '../output/table.ts';
import type { ColumnOf } from '../output/table.ts';
import { requireLoadable } from '../read-config.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface PlanCommandOptions extends Shared {
  /** Whether to hash files; false with `--no-hash`. */
  readonly hash: boolean;
}

/**
 * `dropcast plan`: previews what would happen to the files in the folders, before anything is sent.
 *
 * @returns the exit code: 1 when a folder cannot be read
 */
export async function plan(shell: Shell, options: PlanCommandOptions, path?: string): Promise<number> {
  const config = await requireLoadable(shell, options.config);
  const wanted = { path: path === undefined ? null : resolve(shell.cwd, path), isHashing: options.hash };
  requireWatched(config, wanted.path);
  const view = await make(shell, config, wanted);
  if (options.json === true) printJson(view, shell.stdout);
  else shell.stdout.write(describe(view, shell));
  return view.folders.some(({ why }) => why !== null) ? exitCodes.failed : exitCodes.fine;
}

function requireWatched({ folders }: Config, path: string | null): void {
  const isWatched = ({ path: folder }: { path: string }): boolean =>
    path === null || path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`);
  if (folders.some(isWatched)) return;
  const watched = folders.map(({ path: folder }) => folder).join(', ');
  throw new CommandError(
    `${escapeControls(path ?? '')} is not in a watched folder; the watched folders are: ${watched}`,
  );
}

async function make(
  shell: Shell,
  config: Config,
  wanted: { readonly path: string | null; readonly isHashing: boolean },
): Promise<PlanView> {
  const progress = progressOn(shell);
  let view: PlanView | null = null;
  const read = (told: unknown): void => {
    // The type cast is safe: both ends of the private socket are the same program.
    const line = told as PlanLine;
    if ('error' in line) throw new ControlError(line.error);
    if ('plan' in line) view = line.plan;
    else progress.tell(line.progress);
  };
  try {
    await streamDaemonOrLedger(shell, config, { path: '/plan', body: wanted, read }, async (ledger) => {
      const { planOf } = await import('../../daemon/plan/plan.ts');
      const { worldOfLedger } = await import('../../daemon/plan/worlds.ts');
      const world = await worldOfLedger(config, ledger);
      view = await planOf(world, { ...wanted, signal: shell.stopping, progress: progress.tell });
    });
  } finally {
    progress.end();
  }
  if (view === null) throw new CommandError('the daemon stopped before the plan was made');
  return view;
}

/** Shows progress in one line on a terminal, which the plan then replaces. */
function progressOn({ stderr }: Shell): { tell(now: PlanProgress): void; end(): void } {
  if (!stderr.isTTY) return { tell: () => undefined, end: () => undefined };
  let told = 0;
  return {
    tell: ({ looked, read }) => {
      if (performance.now() - told < everyMs) return;
      told = performance.now();
      const compared = read === 0 ? '' : `, read ${counted(read, 'file')} of the same size`;
      stderr.write(`\r\u{1B}[KLooked at ${counted(looked, 'new file')}${compared} …`);
    },
    end: () => stderr.write('\r\u{1B}[K'),
  };
}

const everyMs = 100;

function describe(view: PlanView, shell: Shell): string {
  const parts = [
    headline(view),
    ruleTable(view, shell),
    ...view.folders.map((folder) => folderLine(folder, shell)),
    section(
      `${amount(view.duplicates)} would be skipped, because the same content is already uploaded or goes first:`,
      view.duplicates.list.map(({ path, of }) => `${shortPath(path, shell)} is ${shortPath(of, shell)}`),
    ),
    possible(view),
    view.left.files === 0 ? '' : `${amount(view.left)} were there before and would be left alone (existing).`,
    section(`${counted(view.held.length, 'file')} would be held:`, words(view.held, shell)),
    section(`${counted(view.unfinished.length, 'file')} cannot be accepted yet:`, words(view.unfinished, shell)),
    section(`${counted(view.refused.length, 'path')} would be left alone:`, words(view.refused, shell)),
    'Nothing was sent, and nothing was written.',
  ];
  return `${parts.filter(Boolean).join('\n')}\n`;
}

function headline(view: PlanView): string {
  const { upload, imports, requests, done_at: doneAt, on_their_way: before } = view;
  const links = imports === 0 ? '' : `, ${counted(imports, 'link')} to import`;
  const waiting = before.files === 0 ? '' : `; ${onTheirWay(before)}`;
  if (upload.files + imports + before.files + requests.amend === 0) return 'Nothing new to upload.';
  const limit = limitSentence(view);
  const done =
    doneAt === null
      ? `${view.limited_by === 'pause' ? 'New files wait' : 'The upload speed is not known yet'}, so there is no estimate of when everything is done`
      : `Done at about ${clockTime(doneAt, Date.now())}`;
  return [
    `${amount(upload)} to upload${links}${waiting}.`,
    `About ${counted(requests.total, 'request')}: ${requestWords(requests)}.`,
    `${done}.${limit === null ? '' : ` ${escapeControls(limit)}.`}`,
  ].join('\n');
}

function onTheirWay({ files, bytes }: PlanView['on_their_way']): string {
  const are = `${counted(files, 'file')} ${files === 1 ? 'is' : 'are'} on ${files === 1 ? 'its' : 'their'} way already`;
  return bytes === 0 ? are : `${are}, ${formatBytes(bytes)} still to be sent`;
}

function requestWords({ create, publish, amend, ask }: PlanView['requests']): string {
  const words: readonly (readonly [number, string])[] = [
    [create, 'to create videos'],
    [publish, 'to publish feeds'],
    [amend, 'to change videos'],
    [ask, 'to check their progress'],
  ];
  return words.flatMap(([n, what]) => (n === 0 ? [] : [`${n} ${what}`])).join(', ');
}

function ruleTable({ rules }: PlanView, shell: Shell): string {
  if (rules.length === 0) return '';
  const isDated = rules.some(({ ready_by: readyBy }) => readyBy !== null);
  const dated: readonly ColumnOf<PlanView['rules'][number]>[] = [['READY BY', ({ ready_by: at }) => at ?? '-']];
  const table = tableOf(
    rules,
    [
      ['RULE', ({ rule }) => rule],
      ['MATCH', ({ match }) => match, { cut: 'end' }],
      ['CHANNEL', ({ channel }) => channel],
      ['FEEDS', ({ publish }) => publish.join(', '), { cut: 'end' }],
      ['PRIORITY', ({ priority }) => priority],
      ...(isDated ? dated : []),
      ['FILES', ({ files }) => String(files), { align: 'right' }],
      ['SIZE', ({ bytes }) => formatBytes(bytes), { align: 'right' }],
    ],
    shell,
  );
  return `\n${table}`;
}

function folderLine(folder: PlanView['folders'][number], shell: Shell): string {
  const path = escapeControls(shortPath(folder.path, shell));
  return folder.why === null
    ? `Folder ${path}: ${folder.files === 0 ? 'nothing new' : amount(folder)}`
    : `Folder ${path} was not checked: ${escapeControls(folder.why)}`;
}

function possible({ possible_duplicates: same }: PlanView): string {
  if (same.files === 0) return '';
  return `${amount(same)} of these have the same size as another file: without --no-hash, dropcast reads and compares them.`;
}

function words(list: PlanView['held'], shell: Shell): readonly string[] {
  return list.map(({ path, why }) => `${shortPath(path, shell)}: ${why}`);
}

/** Maximum lines per section; --json has all. */
const mostLines = 20;

function section(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const more = lines.length > mostLines ? [`  … and ${lines.length - mostLines} more; --json lists all`] : [];
  return [title, ...lines.slice(0, mostLines).map((line) => `  ${escapeControls(line)}`), ...more].join('\n');
}

function amount({ files, bytes }: { readonly files: number; readonly bytes: number }): string {
  return `${counted(files, 'file')} (${formatBytes(bytes)})`;
}
