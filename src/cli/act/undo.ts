import type { UndoResult, UndoView, UndoWanted } from '../../daemon/commands/undo.ts';
import type { Left } from '../../daemon/commands/wanted.ts';
import { clockTime } from '../../view/words/text.ts';
import { commandDaemon, queryRunningDaemon } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { counted, formatDuration, textOf } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { queryGiven } from '../query-given.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes, userName } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface UndoOptions extends Shared, Pick<UndoWanted, 'rule' | 'check' | 'yes'> {
  readonly since?: string;
  readonly folder?: string;
  readonly stop?: boolean;
}

/**
 * `dropcast undo --since TIME | --rule KEY`: lists the uploads that would be taken back; with `--yes COUNT`, takes them
 * back. Without either option, prints the progress of the last run.
 */
export async function undo(shell: Shell, options: UndoOptions): Promise<number> {
  const { rule, check, yes, stop = false, json, config } = options;
  const { since, folder } = queryGiven(shell, options).selection;
  const by = userName(shell);
  const isRun = rule === undefined && since === undefined;
  if (isRun && (check === true || yes !== undefined || folder !== undefined))
    throw new CommandError('select the uploads by --since or --rule', exitCodes.usage);
  const place = await requireDaemonPlace(shell, config);
  if (isRun) {
    const stopped = () => commandDaemon<UndoView>(place, '/undo/stop', { by });
    const view = await (stop ? stopped() : queryRunningDaemon<UndoView>(place, '/undo'));
    printResult(view, { shell, json }, () => textOf(runLines(view, Date.now())));
    return exitCodes.fine;
  }
  const wanted: UndoWanted = { rule, since, folder, check, yes, by };
  const result = await commandDaemon<UndoResult>(place, '/undo', wanted);
  printResult(result, { shell, json }, () => textOf(resultLines(result, wanted)));
  if (result.why === null) return exitCodes.fine;
  shell.stderr.write(textOf([result.why]));
  return exitCodes.failed;
}

/** Maximum number of videos to print; `--json` lists more. */
const mostShown = 20;
const mostExamples = 3;

function resultLines(result: UndoResult, { rule, since, folder, check }: UndoWanted): readonly string[] {
  const { planned, files, videos, requests, budget_ms: budgetMs, feeds } = result;
  if (!planned) return [`${counted(files, 'video')} will be deleted; \`dropcast undo\` shows the progress.`];
  const lines = [
    `Would be taken back: ${counted(files, 'video')}`,
    ...videos.slice(0, mostShown).map(({ path, video_id: id, title }) => `  ${path}  ${id}  "${title}"`),
    ...(files > mostShown ? [`  … and ${counted(files - mostShown, 'more video')}`] : []),
    ...groupLines('Kept, because they were edited on the service since', result.kept),
    ...groupLines('Refused', result.left),
  ];
  if (files === 0) return lines;
  const publishes = feeds.length === 0 ? '' : `, and ${feeds.join(', ')} published again`;
  const time = budgetMs === 0 ? '' : `; the hourly limit admits them within ${formatDuration(budgetMs)}`;
  const words = Object.entries({ rule, since: since && new Date(since).toISOString(), folder }).flatMap(
    ([word, value]) => (value === undefined ? [] : [`--${word} '${String(value).replaceAll("'", String.raw`'\''`)}'`]),
  );
  return [
    ...lines,
    `Cost: ${counted(requests, 'request')}, 4 for each video${publishes}${time}.`,
    checkWords(result, check === true),
    `Nothing was changed. To delete them: dropcast undo ${words.join(' ')}${check === true ? ' --check' : ''} --yes ${files}`,
  ];
}

function checkWords({ check: { requests, unseen, why } }: UndoResult, isAsked: boolean): string {
  const later = 'dropcast asks for each video before it deletes it, and keeps those that were edited';
  if (!isAsked)
    return `Not checked for edits: ${later}. --check compares the titles now, with at most ${counted(requests, 'request')}.`;
  return `${why === null ? `${counted(unseen, 'video')} not found in the list` : `The list cannot be read: ${why}`}; ${later}.`;
}

function groupLines(title: string, groups: readonly Left[]): readonly string[] {
  const total = groups.reduce((sum, { files }) => sum + files, 0);
  const lines = groups.flatMap(({ files, why, examples }) => [
    `  ${counted(files, 'file')}: ${why}`,
    ...examples.slice(0, mostExamples).map((path) => `    ${path}`),
    ...(files > mostExamples ? ['    …'] : []),
  ]);
  return total === 0 ? [] : [`${title}: ${counted(total, 'video')}`, ...lines];
}

function runLines({ run }: UndoView, now: number): readonly string[] {
  if (run === null) return ['Nothing was taken back so far: `dropcast undo --since TIME` lists what can be.'];
  const { files, taken, kept, left, waits_for: waitsFor, stopped_by: stoppedBy, ended_at: endedAt } = run;
  const stopped = stoppedBy === null ? '' : `, stopped by ${stoppedBy}`;
  const ended = endedAt === null ? '' : `, ended at ${clockTime(endedAt, now)}`;
  return [
    `${counted(files, 'video')}, begun by ${run.by} at ${clockTime(run.at, now)}${stopped}${ended}`,
    `  ${taken} taken back, ${kept.length} kept, ${left} left`,
    ...(waitsFor === null ? [] : [`  Waiting: ${waitsFor}`]),
    ...kept.slice(0, mostShown).map(({ path, why }) => `  ${path}: ${why}`),
  ];
}
