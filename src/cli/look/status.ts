import type { FolderStatus } from '../../intake/watched-folder.ts';
import { clockTime } from '../../view/words/clock-time.ts';
import { comparisonWords } from '../../daemon/adoption/comparison-words.ts';
import { limitSentence } from '../../daemon/outlook/limit-words.ts';
import { deafWords } from '../../daemon/message-targets.ts';
import { emptyStatus, statusOf } from '../../daemon/view.ts';
import type { FileView } from '../../daemon/files/file-view.ts';
import { countUnmet, needsPerson } from '../../daemon/overview/sentence.ts';
import { expectationWords } from '../../daemon/expectations/expectation-words.ts';
import type { StatusView } from '../../daemon/view.ts';
import { countLine } from '../../status/count-line.ts';
import { queryDaemonOrLedger } from '../control.ts';
import { hasColour, paint } from '../../log/colour.ts';
import { accountsLine } from '../output/accounts-line.ts';
import { causeLines, sharedCauses } from '../output/cause-lines.ts';
import { hostLines } from '../output/host-lines.ts';
import { counted, emptyRecords, formatRate, formatRelative } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { exitCodes } from '../shell.ts';
import { waitLines } from '../../view/waits.ts';
import { leftOutWords } from '../../watch/left-out.ts';
import type { Shell } from '../shell.ts';

/**
 * `dropcast status`: what is happening, and why.
 *
 * @returns the exit code, for scripts and health checks: 0 fine, 1 when a person has to act, 3 when the daemon is not running
 */
export async function status(
  shell: Shell,
  options: { readonly config?: string; readonly json?: boolean; readonly all?: boolean },
): Promise<number> {
  const config = await requireDaemonPlace(shell, options.config);
  // The first line of the text says it already.
  const whoHears = options.json === true ? shell : null;
  const view = await queryDaemonOrLedger<StatusView>(
    whoHears,
    config,
    options.all === true ? '/status?all=1' : '/status',
    (ledger) => (ledger === null ? Promise.resolve(emptyStatus) : statusOf(ledger, null, options.all)),
  );
  if (options.json === true) printJson(view, shell.stdout);
  else shell.stdout.write(`${overview(view, shell)}${await attention(view, shell, options.all === true)}`);
  if (!view.daemon.running) return exitCodes.notRunning;
  return statusNeedsPerson(view) ? exitCodes.failed : exitCodes.fine;
}

/** Pure: whether a person has to act. A service that cannot be reached is not a reason: dropcast resumes when it answers. */
export function statusNeedsPerson({
  waiting,
  causes,
  needs_you: needsYou,
  folders,
  expectations,
}: Pick<StatusView, 'waiting' | 'causes' | 'needs_you' | 'folders' | 'expectations'>): boolean {
  return (
    waiting?.kind === 'suspended' ||
    needsPerson({
      needsYou: Math.max(causes.files, needsYou.length),
      frozenFolders: folders.filter(({ state }) => state === 'frozen').length,
      unmet: countUnmet(expectations),
    })
  );
}

function overview(view: StatusView, shell: Shell): string {
  const colour = hasColour(shell.stdout, shell.env);
  const lines = [headline(view, colour), ...hostLines(view.fleet, Date.now(), colour), countLine(view)];
  for (const line of waitLines(view.waits, Date.now())) lines.push(paint('yellow', escapeControls(line), colour));
  if (view.requests !== null) {
    const { used, limit, others } = view.requests;
    lines.push(`API requests in the last hour: ${used} of ${limit}`);
    if (others > 0) lines.push(`Others use about ${others} requests an hour of this key: dropcast does without them.`);
  }
  if (view.outlook !== null) lines.push(...outlookLine(view.outlook));
  lines.push(...uploadLines(view));
  // Folders that need attention first: there may be many.
  const folders = view.folders.toSorted((a, b) => Number(isFine(a)) - Number(isFine(b)));
  for (const folder of folders) lines.push(folderLine(folder, colour), ...loneSidecarLines(folder));
  const accounts = accountsLine(view.accounts);
  if (accounts !== null) lines.push(`All folders: ${accounts}`);
  for (const each of view.expectations) lines.push(expectationLine(each, colour));
  for (const each of view.deaf_targets)
    lines.push(paint('yellow', `Not told: ${escapeControls(deafWords(each, Date.now()))}`, colour));
  if (view.adoption.files > 0) lines.push(adoptionLine(view.adoption));
  if (view.deletions.files > 0) lines.push(deletionLine(view.deletions));
  if (view.suspects > 0) lines.push(`${emptyRecords(view.suspects)}.`);
  return `${lines.join('\n')}\n`;
}

function expectationLine(view: StatusView['expectations'][number], colour: boolean): string {
  const words = expectationWords(view, Date.now());
  const isMissed = view.state === 'missing' || view.state === 'late';
  return `Expected ${escapeControls(`${view.folder}/${view.match}`)}: ${isMissed ? paint('yellow', words, colour) : words}`;
}

function adoptionLine({ files, compared, comparing }: StatusView['adoption']): string {
  const were = files === 1 ? '1 file was' : `${counted(files, 'file')} were`;
  const next =
    compared === files
      ? '`dropcast adopt` says which the service has already'
      : comparing === null
        ? 'not compared with the service yet'
        : comparisonWords(comparing);
  return `${were} there before dropcast watched the folder: ${next}.`;
}

function deletionLine({ files, next_at: nextAt }: StatusView['deletions']): string {
  const next = nextAt === null ? 'when the disk is full' : `the next ${formatRelative(nextAt, Date.now())}`;
  return `${counted(files, 'local file')} will be deleted later, ${next}.`;
}

/** `Limited by the request budget: 12 of 1000 requests are left this hour. Done at about 14:20.` */
function outlookLine(outlook: NonNullable<StatusView['outlook']>): readonly string[] {
  // What stops everything has a line of its own.
  const sentence = outlook.limited_by === 'pause' ? null : limitSentence(outlook);
  if (sentence === null) return [];
  const { done_at: doneAt } = outlook;
  const done = doneAt === null ? '' : ` Done at about ${clockTime(doneAt, Date.now())}.`;
  return [`${escapeControls(sentence)}.${done}`];
}

function uploadLines({ uploads, fleet }: StatusView): readonly string[] {
  if (uploads === null) return [];
  const isOne = fleet === null;
  const { bytes_per_second: limit, until } = uploads;
  const now = Date.now();
  const end = until === null ? '' : ` until ${clockTime(until, now)}`;
  const allowed = limit === null ? `unlimited${end}` : `${formatRate(limit)}${end}`;
  if (limit === null && until === null) return [];
  return [`Limit of all uploads ${isOne ? 'together' : 'of this host together'}: ${allowed}`];
}

function folderLine(
  { path, state, why, paths, accounts, refused, left_out: leftOut }: FolderStatus,
  colour: boolean,
): string {
  const text = why === null ? state : `${state}: ${escapeControls(why)}`;
  const word = isFine({ state }) ? text : paint('yellow', text, colour);
  const left = [
    accounts.unaccounted === 0 ? '' : paint('red', `, ${accounts.unaccounted} in no state`, colour),
    paths.ignored > leftOut.files ? `, ${paths.ignored - leftOut.files} ignored` : '',
    leftOut.files > 0 ? `, ${leftOutWords(leftOut)}` : '',
    paths.refused > 0 ? `, ${paths.refused} refused` : '',
    refused === null
      ? ''
      : `: "${escapeControls(refused.path)}": ${escapeControls(refused.why)}${paths.refused > 1 ? ', …' : ''}`,
  ];
  return `Folder ${escapeControls(path)}: ${word} (${paths.offered} known${left.join('')})`;
}

function loneSidecarLines({ lone_sidecars: { files, first } }: FolderStatus): readonly string[] {
  if (files === 0) return [];
  const names = `${first.map(escapeControls).join(', ')}${files > first.length ? ', …' : ''}`;
  return [`  ${counted(files, 'sidecar')} ${files === 1 ? 'belongs' : 'belong'} to no video: ${names}`];
}

function isFine({ state }: Pick<FolderStatus, 'state'>): boolean {
  return state === 'watching';
}

function headline({ daemon, config, fleet }: StatusView, colour: boolean): string {
  const where = fleet === null ? '' : ' on this host';
  if (!daemon.running) return paint('yellow', `dropcast is not running${where}`, colour);
  const since = daemon.started_at === null ? '' : `, started ${formatRelative(daemon.started_at, Date.now())}`;
  return `${paint('green', 'dropcast is running', colour)} (pid ${daemon.pid ?? '?'}${since}) with ${escapeControls(config ?? '?')}`;
}

/** The files that dropcast is working on, and those that need a person: a line for all that have the same cause, or all of them. */
async function attention(view: StatusView, shell: Shell, isAll: boolean): Promise<string> {
  const { working, needs_you: needsYou, causes } = view;
  if (working.length + needsYou.length === 0) return '';
  // Loaded here: measuring text for tables takes 30 ms of CPU at the start.
  const { fileTable } = await import('../output/file-table.ts');
  const section = (title: string, files: readonly FileView[]): string =>
    files.length === 0 ? '' : `\n${title}\n${fileTable(files, shell)}`;
  const shared = isAll ? [] : sharedCauses(causes.causes);
  const lines = shared.flatMap((cause) => causeLines(cause, Date.now()));
  const rest = needsYou.filter(({ cause }) => !shared.some(({ key }) => key === cause));
  const alone = rest.length === 0 ? '' : fileTable(rest, shell);
  const hint = needsYou.length === 0 ? '' : 'Details: `dropcast show ID`. Try again: `dropcast retry ID`.\n';
  const more = shared.length === 0 ? '' : 'Each of them: `dropcast status --all`. ';
  const title = needsYou.length === 0 ? '' : '\nNeeds you\n';
  return `${section('Under way', working)}${title}${lines.map((line) => `${line}\n`).join('')}${alone}${more}${hint}`;
}
