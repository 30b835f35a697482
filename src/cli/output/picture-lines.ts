import type { FolderStatus } from '../../intake/folder-status.ts';
import { paint } from '../../log/colour.ts';
import type { Style } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { shellWord } from '../../shell-word.ts';
import { deafWords, comparisonWords, expectationWords } from '../../view/words/picture-words.ts';
import type { FileView } from '../../view/files/file-view.ts';
import { fleetTroubles, hostWords } from '../../view/hosts/host-words.ts';
import { limitSentence, allowedWords } from '../../view/outlook.ts';
import type { CauseAction } from '../../view/picture/causes.ts';
import type { CauseView } from '../../view/picture/picture.ts';
import type { NowFile, Picture, Sentence } from '../../view/picture/picture.ts';
import { countsAsRead, stageWord } from '../../view/stages.ts';
import { waitLines } from '../../view/waits.ts';
import { clockTime } from '../../view/words/text.ts';
import { leftOutWords } from '../../watch/inventory.ts';
import type { Accounts } from '../../watch/ports.ts';
import {
  counted,
  emptyRecords,
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  formatRate,
  formatRelative,
} from './format.ts';
import { cutEnd, cutMiddle, displayWidth, pad } from './text-width.ts';

/** A picture, and the properties of the terminal it is drawn on. */
export interface Frame {
  readonly picture: Picture;
  /** Terminal width in columns; `Infinity` for a file or pipe. */
  readonly width: number;
  readonly colour: boolean;
  /** Whether to list each file that needs the operator, instead of grouping files with the same cause. */
  readonly isAll?: boolean;
}

type Line = string | { readonly text: string; readonly style: Style };

/**
 * Renders the picture as lines no wider than the terminal, for `dropcast status` and each frame of `dropcast top`.
 * Pure.
 */
export function pictureLines({ picture, width, colour, isAll = false }: Frame): readonly string[] {
  const lines: readonly Line[] = [
    { text: picture.sentence.text, style: looks[picture.sentence.level] },
    ...running(picture),
    ...trouble(picture),
    ...stages(picture, width),
    ...limits(picture),
    ...needsYou(picture, width, isAll),
    ...now(picture, width),
    ...hosts(picture),
    ...section([...budget(picture), ...feeds(picture), day(picture)]),
    ...section([...folders(picture), ...expectations(picture), ...notes(picture)]),
  ];
  return lines.map((line) => {
    const { text, style = null } = typeof line === 'string' ? { text: line } : line;
    const shown = cutEnd(escapeControls(text), width);
    return style === null || shown === '' ? shown : paint(style, shown, colour);
  });
}

const looks: Readonly<Record<Sentence['level'], Style>> = {
  ok: 'green',
  busy: 'bold',
  attention: 'yellow',
  stopped: 'red',
};

/** Puts an empty line and the optional title above the lines. Returns nothing if there are no lines. */
function section(lines: readonly Line[], title?: string): readonly Line[] {
  if (lines.length === 0) return [];
  return ['', ...(title === undefined ? [] : [bold(title)]), ...lines];
}

const bold = (text: string): Line => ({ text, style: 'bold' });
const attention = (text: string): Line => ({ text, style: 'yellow' });

/** The number of items that are not listed. */
function furtherItems(count: number): readonly Line[] {
  return count > 0 ? [`… and ${formatCount(count)} more`] : [];
}

function running({ daemon, config, at }: Picture): readonly Line[] {
  if (!daemon.running) return [];
  const since = daemon.started_at === null ? '' : `, started ${formatRelative(daemon.started_at, at)}`;
  return [`dropcast is running (pid ${daemon.pid ?? '?'}${since}) with ${config ?? '?'}`];
}

function trouble({ waits, folders: all, expectations: due, deaf_targets: targets, fleet, at }: Picture): Line[] {
  return [
    ...waitLines(waits, at),
    ...all.filter(({ state }) => state === 'scanning').map(({ path, state }) => `${state}  ${path}`),
    ...due.filter(isDue).map((each) => `${each.state}  ${each.match} in ${each.folder}: ${expectationWords(each, at)}`),
    ...targets.map((each) => `not notified  ${deafWords(each, at)}`),
    ...(fleet === null ? [] : fleetTroubles(fleet, at)),
  ].map(attention);
}

function isDue({ state }: Picture['expectations'][number]): boolean {
  return state === 'missing' || state === 'late';
}

/** Stages on one line if there is room, with the slowest in brackets: `settling 1 → queued 12 → [uploading 2] → …`. */
function stages({ stages: all, retrying: { files, next_at: next }, at }: Picture, width: number): readonly Line[] {
  if (all.length === 0) return [];
  const parts = all.map(({ name, files: count, retrying, bottleneck }) => {
    const words = `${stageWord(name)} ${formatCount(count + retrying)}`;
    return bottleneck === null ? words : `[${words}]`;
  });
  const line = parts.join(' → ');
  const shown = (displayWidth(line) <= width ? [line] : parts).map(bold);
  if (files === 0) return section(shown);
  const soon = next === null || next < at ? '' : `, the next at ${clockTime(next, at)}`;
  return section([...shown, `${formatCount(files)} of them ${files === 1 ? 'waits' : 'wait'} for a retry${soon}`]);
}

/** What limits the backlog (unless it is a pause, which is listed above), and the combined upload limit. */
function limits({ outlook, uploads, fleet, at }: Picture): readonly Line[] {
  const lines: Line[] = [];
  const words = outlook === null || outlook.limited_by === 'pause' ? null : limitSentence(outlook);
  const doneAt = outlook?.done_at ?? null;
  if (words !== null) lines.push(`${words}.${doneAt === null ? '' : ` All done at about ${clockTime(doneAt, at)}.`}`);
  const { bytes_per_second: limit = null, until = null } = uploads ?? {};
  if (limit === null && until === null) return lines;
  const end = until === null ? '' : ` until ${clockTime(until, at)}`;
  const where = fleet === null ? '' : ' on this host';
  return [...lines, `Combined upload limit${where}: ${limit === null ? 'unlimited' : formatRate(limit)}${end}`];
}

const mostCauses = 5;

/** Two lines for all files that share a cause, and one line for each other file. */
function needsYou(
  { needs_you: { files, causes }, needing, at }: Picture,
  width: number,
  isAll: boolean,
): readonly Line[] {
  const shared = isAll ? [] : sharedCauses(causes).slice(0, mostCauses);
  const alone = needing.filter(({ cause }) => !shared.some(({ key }) => key === cause));
  const rest = files - shared.reduce((sum, cause) => sum + cause.files, 0) - alone.length;
  const all = shared.length > 0 ? 'List them all: `dropcast status --all`. ' : '';
  const hint = `${all}Details: \`dropcast show ID\`. Try again: \`dropcast retry ID\`.`;
  return section(
    [
      ...shared.flatMap((cause) => causeLines(cause, at)).map(attention),
      ...fileRows(alone, width, (file) => [file.id, file.stage, file.why ?? '']),
      ...furtherItems(rest),
      ...(shared.length + alone.length === 0 ? [] : [hint]),
    ],
    'Needs you',
  );
}

function now({ now: { files, more }, at }: Picture, width: number): readonly Line[] {
  const rows = fileRows(files, width, (file) => [pad(file.stage, 10), meters(file, at)]);
  return section([...rows, ...furtherItems(more)], 'Now');
}

/** File names with their details. Names are padded to the longest. */
function fileRows<T extends Pick<FileView, 'path'>>(
  files: readonly T[],
  width: number,
  cellsOf: (file: T) => readonly string[],
): readonly string[] {
  const names = files.map(({ path }) => escapeControls(path.slice(path.lastIndexOf('/') + 1)));
  const longest = Math.max(...names.map(displayWidth));
  const room = Math.min(longest, Math.max(12, Math.floor(Math.min(width, 160) * 0.35)));
  return files.map((file, n) => [pad(cutMiddle(names[n] ?? '', room), room), ...cellsOf(file)].join('  ').trimEnd());
}

function meters(file: NowFile, at: number): string {
  const { state, sent, size, why, host } = file;
  const { bytes_per_second: speed, ready_at: ready, sent_at: sentAt, next_look_at: look } = file;
  const cells: string[] = [];
  if (state === 'uploading' && sent !== null) {
    cells.push(`${pad(formatPercent(sent, size), 4, 'right')} of ${formatBytes(size)}`);
    if (speed !== null) cells.push(formatRate(speed));
  }
  if (ready !== null) cells.push(`ready at ${clockTime(ready, at)}`);
  else if (sentAt !== null) cells.push(`sent at ${clockTime(sentAt, at)}`);
  if (look !== null && look > at) {
    const next = state === 'retrying' ? 'next try' : 'next check';
    cells.push(`${next} in ${formatDuration(Math.ceil((look - at) / 1_000) * 1_000)}`);
  }
  if (why !== null) cells.push(why);
  if (host !== null) cells.push(`on ${host}`);
  return cells.join('  ');
}

/** What each host is doing. A single host is listed only if it has a problem. */
function hosts({ fleet, at }: Picture): readonly Line[] {
  const all = fleet?.hosts ?? [];
  if (all.length <= 1 && all.every(({ state }) => state === 'running')) return [];
  const longest = Math.max(...all.map(({ name }) => displayWidth(escapeControls(name))));
  const lines = all.map((host) => {
    const { name, here, state, version, heard_at: heardAt, bytes_per_second: speed } = host;
    const isHeard = !here && state !== 'silent' && state !== 'stopped';
    const about = `(${here ? 'this one, ' : ''}${version}${isHeard ? `, heard ${formatRelative(heardAt, at)}` : ''})`;
    const words = `${hostWords(host, at)}${speed === null ? '' : `  ${formatRate(speed)}`}`;
    const text = `${pad(escapeControls(name), longest)}  ${words}  ${about}`;
    return state === 'running' ? text : attention(text);
  });
  return section(lines, 'Hosts');
}

const gaugeWidth = 24;

function budget({ budget: requests, at }: Picture): readonly Line[] {
  if (requests === null) return [];
  const { used, limit, others, blocked_until: blocked, reported, frees } = requests;
  const full = Math.min(gaugeWidth, Math.round((gaugeWidth * (used + others)) / Math.max(1, limit)));
  const gauge = `${'█'.repeat(full)}${'░'.repeat(gaugeWidth - full)}`;
  const theirs = others === 0 ? '' : `, others about ${formatCount(others)}`;
  const [first] = frees;
  let next = '';
  if (blocked !== null) next = `; rate limited until ${clockTime(blocked, at)}`;
  else if (reported !== null) next = `; ${allowedWords(reported, at)}`;
  else if (first !== undefined && used > 0)
    next = `; ${formatCount(first.requests)} free again at ${clockTime(first.at, at)}`;
  return [`API requests  ${gauge}  ${formatCount(used)} of ${formatCount(limit)} used${theirs}${next}`];
}

function feeds({ feeds: all, at }: Picture): readonly Line[] {
  return all.map(({ feed, published_at: published, waiting, next_at: next, failure }) => {
    const last = published === null ? 'not published yet' : `published ${clockTime(published, at)}`;
    const soon = next === null || next < at ? '' : ` by ${clockTime(next, at)}`;
    const wait = waiting === 0 ? '' : `, ${formatCount(waiting)} newer${soon}`;
    const text = `Feed ${feed}  ${last}${wait}`;
    return failure === null ? text : { text: `${text}, failed: ${failure}`, style: 'red' };
  });
}

function day({ day: { done, failed, bytes } }: Picture): Line {
  const wrong = failed === 0 ? '' : `, ${formatCount(failed)} failed or held`;
  return `Last 24 hours  ${formatCount(done)} done (${formatBytes(bytes)})${wrong}`;
}

/** Formats the folders. Those that need attention come first, because there may be many. */
function folders({ folders: all, accounts, waits }: Picture): readonly Line[] {
  const sum = accountsLine(accounts);
  const sorted = all.toSorted((a, b) => Number(isFine(a)) - Number(isFine(b)));
  const told = new Set(waits.map(({ what }) => what));
  return [...sorted.flatMap((folder) => folderLines(folder, told)), ...(sum === null ? [] : [`All folders: ${sum}`])];
}

/** @param told the folders whose waits already explain why their files wait */
function folderLines(folder: FolderStatus, told: ReadonlySet<string>): readonly Line[] {
  const { path, state, why, paths, accounts, refused, left_out: leftOut } = folder;
  const left = [
    accounts.unaccounted === 0 ? '' : `, ${accounts.unaccounted} in no state`,
    paths.ignored > leftOut.files ? `, ${paths.ignored - leftOut.files} ignored` : '',
    leftOut.files > 0 ? `, ${leftOutWords(leftOut)}` : '',
    paths.refused > 0 ? `, ${paths.refused} refused` : '',
    refused === null ? '' : `: "${refused.path}": ${refused.why}${paths.refused > 1 ? ', …' : ''}`,
  ];
  const reason = why === null || told.has(path) ? '' : `: ${why}`;
  const text = `Folder ${path}: ${state}${reason} (${paths.offered} known${left.join('')})`;
  const line = accounts.unaccounted === 0 && isFine(folder) ? text : attention(text);
  const { files: sidecars, first } = folder.lone_sidecars;
  if (sidecars === 0) return [line];
  const names = `${first.join(', ')}${sidecars > first.length ? ', …' : ''}`;
  return [line, `  ${counted(sidecars, 'sidecar')} ${sidecars === 1 ? 'belongs' : 'belong'} to no video: ${names}`];
}

function isFine({ state }: Pick<FolderStatus, 'state'>): boolean {
  return state === 'watching';
}

/** Expectations other than missing and late ones, which are listed above. */
function expectations({ expectations: all, at }: Picture): readonly Line[] {
  const others = all.filter((each) => !isDue(each));
  return others.map((each) => `Expected ${each.folder}/${each.match}: ${expectationWords(each, at)}`);
}

function notes({ adoption: { files, compared, comparing }, deletions, suspects, at }: Picture): readonly Line[] {
  const lines: string[] = [];
  if (files > 0) {
    const waiting = comparing === null ? 'not compared with the service yet' : comparisonWords(comparing);
    const next = compared === files ? '`dropcast adopt` shows which of them the service already has' : waiting;
    const were = `${counted(files, 'file')} ${files === 1 ? 'was' : 'were'}`;
    lines.push(`${were} there before dropcast watched the folder: ${next}.`);
  }
  if (deletions.files > 0) {
    const { next_at: next } = deletions;
    const soon = next === null ? 'when the disk is full' : `the next ${formatRelative(next, at)}`;
    lines.push(`${counted(deletions.files, 'local file')} will be deleted later, ${soon}.`);
  }
  if (suspects > 0) lines.push(`${emptyRecords(suspects)}.`);
  return lines;
}

/**
 * Sums up all paths: `100 paths = 2 settling + 1 compared + 90 known (80 done, 10 queued) + 4 sidecars + 2 ignored + 1
 * refused`. Null if there are none.
 */
export function accountsLine(accounts: Accounts): string | null {
  const { seen, settling, comparing, known, sidecars, ignored, refused, unaccounted } = accounts;
  if (seen === 0 && unaccounted === 0) return null;
  const stages = countsAsRead(known);
  const total = stages.reduce((sum, [, count]) => sum + count, 0);
  const parts: readonly (readonly [count: number, what: string])[] = [
    [settling, 'settling'],
    [comparing, 'compared'],
    [total, `known (${stages.map(([stage, count]) => `${count} ${stage}`).join(', ')})`],
    [sidecars, sidecars === 1 ? 'sidecar' : 'sidecars'],
    [ignored, 'ignored'],
    [refused, 'refused'],
    [unaccounted, 'in no state: a bug in dropcast, please report it'],
  ];
  const shown = parts.filter(([count]) => count !== 0).map(([count, what]) => `${count} ${what}`);
  return `${seen} ${seen === 1 ? 'path' : 'paths'} = ${shown.join(' + ')}`;
}

/** Minimum number of files to group under one cause. Fewer get a row each. */
const leastFiles = 2;

/** Causes with enough files to group them. Pure. */
export function sharedCauses(causes: readonly CauseView[]): readonly CauseView[] {
  return causes.filter(({ files }) => files >= leastFiles);
}

/** The shared problem, what to do, and a command that does it for all files. Pure. */
export function causeLines(cause: CauseView, nowMs: number): readonly string[] {
  const { title, next, since, examples } = cause;
  const begun = since === null ? '' : `, since ${clockTime(since, nowMs)}`;
  const [example] = examples;
  const like = example === undefined ? '' : `, like ${example.path}`;
  return [escapeControls(`${title}${begun}${like}`), escapeControls(`  ${next} ${commandsOf(cause)}`)];
}

/** Formats the commands: `Which: …. All of them: ….` */
function commandsOf({ key, actions }: CauseView): string {
  const word = /^[\w.]+$/.test(key) ? key : shellWord(key);
  const [command] = actions.flatMap((action) => commands[action]?.(word) ?? []);
  const all = command === undefined ? '' : ` All of them: \`${command}\`.`;
  return `Which: \`dropcast ls --cause ${word}\`.${all}`;
}

const commands: Readonly<Record<CauseAction, ((cause: string) => string) | null>> = {
  retry: (cause) => `dropcast retry --cause ${cause}`,
  'force retry': (cause) => `dropcast retry --cause ${cause} --force`,
  ignore: (cause) => `dropcast ignore --cause ${cause}`,
  'send elsewhere': (cause) => `dropcast retry --cause ${cause} --to CHANNEL`,
  // The cause's own text contains the command.
  adopt: null,
  publish: null,
  reapply: (cause) => `dropcast reapply --cause ${cause}`,
};
