import type { IgnoreResult } from '../../daemon/commands/ignore.ts';
import type { ReapplyChange, ReapplyResult } from '../../daemon/commands/reapply.ts';
import type { RetryResult } from '../../daemon/commands/retry.ts';
import type { CommandResult, FilesResult, WantedFiles } from '../../daemon/commands/wanted.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { someNames } from '../../view/words/text.ts';
import { commandDaemon } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { nameOf } from '../look/show.ts';
import { counted, textOf } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { queryGiven } from '../query-given.ts';
import type { SelectionOptions } from '../query-given.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes, userName } from '../shell.ts';
import type { Shell } from '../shell.ts';

type FilesOptions = Shared & SelectionOptions;

export interface RetryOptions extends FilesOptions {
  readonly all?: boolean;
  readonly force?: boolean;
  /** Channel to send the files to. */
  readonly to?: string;
  readonly plan?: boolean;
}

/** States for `--all`: every file that needs help to continue or is waiting for its next attempt. */
const allStates = 'failed,held,retrying';
const retriable: readonly string[] = [
  ...allStates.split(','),
  'queued',
  'uploading',
  'processing',
  'publishing',
  'skipped',
  'ignored',
];

/** `dropcast retry NAME… | --state STATES | --all`: retries failed, held, skipped and waiting files. */
export async function retry(shell: Shell, options: RetryOptions, names: readonly string[]): Promise<number> {
  const { to: channel, all: isAll, force = false, plan: isPlanned = false, ...selecting } = options;
  const unknown = options.state?.split(',').find((state) => !retriable.includes(state.trim()));
  if (unknown !== undefined) {
    const message = `files in state "${escapeControls(unknown)}" cannot be retried; these states can: ${retriable.join(', ')}`;
    throw new CommandError(message, exitCodes.usage);
  }
  const wanted = wantedOf(shell, names, { ...selecting, ...(isAll === true && { state: options.state ?? allStates }) });
  if (isNothing(wanted))
    throw new CommandError(
      'name a file, select files by --state, --folder, --host, --cause or --query, or pass --all',
      exitCodes.usage,
    );
  const body = { ...wanted, force, isPlanned, ...(channel !== undefined && { channel }) };
  const result = await command<RetryResult>(shell, options, { path: '/retry', body });
  printResult(result, { shell, json: options.json }, () => textOf(retryLines(result, channel)));
  return printRefusals(shell, options, result);
}

/** Formats the result as text; `--json` also lists every id. Pure. */
export function retryLines(result: RetryResult, channel?: string): readonly string[] {
  const { files, planned, mend, examples, waited } = result;
  const to = channel === undefined ? '' : ` to channel ${channel}`;
  const lines: string[] = [];
  if (waited !== null && !planned) lines.push(`Checking the service now; files wait: ${waited.replace(/\.$/, '')}.`);
  if (files === 0) lines.push(waited === null ? 'Nothing to retry.' : 'No failed files need a retry.');
  else if (planned) lines.push(`${counted(files, 'file')} would be retried${to}, with ${costWords(result)}.`);
  else lines.push(`${counted(files, 'file')} will be retried${to}: ${someNames(examples, files)}.`);
  for (const { rule, channel: said, at } of mend)
    lines.push(`The next files go to ${said} as before: correct ${rule}${at === null ? '' : ` (${at})`}.`);
  return lines;
}

export interface IgnoreOptions extends FilesOptions {
  readonly undo?: boolean;
  readonly plan?: boolean;
}

/** `dropcast ignore NAME…`: marks files that must not be uploaded. `--undo` removes the mark. */
export async function ignore(shell: Shell, options: IgnoreOptions, names: readonly string[]): Promise<number> {
  const { plan: isPlanned = false, undo: isUndone = false } = options;
  const body = { ...someWanted(shell, names, options), by: userName(shell), isUndone, isPlanned };
  const result = await command<IgnoreResult>(shell, options, { path: '/ignore', body });
  printResult(result, { shell, json: options.json }, () => textOf(ignoreLines(result, isUndone)));
  return printRefusals(shell, options, result);
}

/** `dropcast first NAME…`: puts waiting files before all others. `--undo` puts them back in line. */
export async function first(shell: Shell, options: IgnoreOptions, names: readonly string[]): Promise<number> {
  const { plan: isPlanned = false, undo: isUndone = false } = options;
  const body = { ...someWanted(shell, names, options), by: userName(shell), isUndone, isPlanned };
  const result = await command<FilesResult>(shell, options, { path: '/first', body });
  printResult(result, { shell, json: options.json }, () => textOf(firstLines(result, isUndone)));
  return printRefusals(shell, options, result);
}

function firstLines({ files, planned, examples }: FilesResult, isUndone: boolean): readonly string[] {
  const place = isUndone ? 'back in line' : 'before all others';
  if (files === 0) return [isUndone ? 'No file that was put first matches.' : 'Nothing to put first.'];
  if (planned) return [`${counted(files, 'file')} would go ${place}, with no request.`];
  return [`${counted(files, 'file')} ${files === 1 ? 'goes' : 'go'} ${place}: ${someNames(examples, files)}.`];
}

function ignoreLines(result: IgnoreResult, isUndone: boolean): readonly string[] {
  const { files, examples, records, planned, excludes } = result;
  const which = counted(files, 'file');
  const lines: string[] = [];
  if (planned)
    lines.push(`${which} would ${isUndone ? 'no longer be ignored' : 'be ignored'}, with ${costWords(result)}.`);
  else if (files === 0) lines.push(isUndone ? 'No ignored files match.' : 'Nothing to ignore.');
  else
    lines.push(
      `${which} ${files === 1 ? 'is' : 'are'} ${isUndone ? 'no longer ignored' : 'ignored'}: ${someNames(examples, files)}.`,
    );
  if (records > 0)
    lines.push(`${counted(records, 'record')} without bytes will be deleted on the service in a minute or more.`);
  for (const { folder, key, pattern } of excludes)
    lines.push(
      `To ignore future ones too, add to ${key} (${folder}) in the configuration:`,
      `    exclude: ["${pattern}"]`,
    );
  return lines;
}

export interface ReapplyOptions extends FilesOptions {
  /** Applies the changes. Without this option, only prints them. */
  readonly yes?: boolean;
}

/**
 * `dropcast reapply`: applies the current rules to files routed by older rules. Prints the changes and their cost
 * first.
 */
export async function reapply(shell: Shell, options: ReapplyOptions, names: readonly string[]): Promise<number> {
  const body = { ...wantedOf(shell, names, options), isPlanned: options.yes !== true };
  const result = await command<ReapplyResult>(shell, options, { path: '/reapply', body });
  printResult(result, { shell, json: options.json }, () => textOf(reapplyLines(result)));
  return printRefusals(shell, options, result);
}

/** Maximum number of changes to print; `--json` lists more. */
const mostShown = 20;

function reapplyLines(result: ReapplyResult): readonly string[] {
  const { changes, files, planned, patches, publishes, same } = result;
  const lines = changes.slice(0, mostShown).flatMap(changeLines);
  if (files > mostShown) lines.push(`… and ${counted(files - Math.min(mostShown, changes.length), 'more file')}`);
  if (same > 0) lines.push(`${counted(same, 'file')}: already match the rules.`);
  if (files === 0) return [...lines, 'Nothing to change.'];
  const feeds = publishes.length === 0 ? '' : `, then ${publishes.join(', ')} published again`;
  const cost = `new metadata for ${counted(patches, 'video')}${feeds}: ${costWords(result)}`;
  lines.push(`${counted(files, 'file')} ${planned ? 'would change' : 'changed'}; ${cost}.`);
  if (planned) lines.push('Run it again with --yes to do this.');
  return lines;
}

function changeLines({ path, changes }: ReapplyChange): readonly string[] {
  return [path, ...changes.map(({ what, from, to }) => `    ${what}: ${quoted(from)} → ${quoted(to)}`)];
}

function quoted(text: string): string {
  return text === '' ? 'none' : `"${text}"`;
}

/**
 * The files that a command names or selects.
 *
 * @throws {CommandError} when the selection is invalid
 */
function wantedOf(shell: Shell, names: readonly string[], options: SelectionOptions): WantedFiles {
  const { selection } = queryGiven(shell, options);
  const isSelected = Object.values(selection).some((value) => value !== undefined);
  return { names: names.map((name) => nameOf(shell, name)), ...(isSelected && { selection }) };
}

/** @throws {CommandError} when the command names and selects nothing */
function someWanted(shell: Shell, names: readonly string[], options: SelectionOptions): WantedFiles {
  const wanted = wantedOf(shell, names, options);
  if (!isNothing(wanted)) return wanted;
  const message = 'name a file, or select files by --state, --folder, --host, --cause or --query';
  throw new CommandError(message, exitCodes.usage);
}

function isNothing({ names, selection }: WantedFiles): boolean {
  return names.length === 0 && selection === undefined;
}

/** Maximum bytes of names per command. A command may have 64 KiB in total. */
const mostNameBytes = 48 * 1024;

/**
 * Sends a command to the daemon, in slices if it names many files.
 *
 * @returns the combined results of all slices
 */
async function command<T extends CommandResult>(
  shell: Shell,
  { config }: Shared,
  { path, body }: { readonly path: string; readonly body: WantedFiles },
): Promise<T> {
  const place = await requireDaemonPlace(shell, config);
  const { names, selection, ...rest } = body;
  const results: T[] = [];
  for (const [n, slice] of slicesOf(names).entries()) {
    const selected = n === 0 && selection !== undefined && { selection };
    results.push(await commandDaemon<T>(place, path, { ...rest, names: slice, ...selected }));
  }
  return results.reduce(together);
}

function slicesOf(names: readonly string[]): readonly (readonly string[])[] {
  const slices: string[][] = [[]];
  let bytes = 0;
  for (const name of names) {
    bytes += Buffer.byteLength(JSON.stringify(name)) + 1;
    if (bytes > mostNameBytes) {
      slices.push([]);
      bytes = 0;
    }
    slices.at(-1)?.push(name);
  }
  return slices;
}

/** Combines two results: adds numbers and concatenates lists. */
function together<T extends CommandResult>(one: T, other: T): T {
  const merged = Object.entries(one).map(([key, value]: [string, unknown]) => {
    const more = (other as Readonly<Record<string, unknown>>)[key];
    if (key !== 'v' && typeof value === 'number' && typeof more === 'number') return [key, value + more];
    const isList = Array.isArray(value) && Array.isArray(more);
    return [key, isList ? [...(value as unknown[]), ...(more as unknown[])] : value];
  });
  return Object.fromEntries(merged) as T;
}

/**
 * Prints files that a command left unchanged to stdout, and names that it refused to stderr. The document has both.
 *
 * @returns the exit code
 */
function printRefusals(shell: Shell, { json }: Shared, { refused, left }: CommandResult): number {
  if (json !== true) {
    for (const { files, why } of left)
      shell.stdout.write(`Left ${counted(files, 'file')} unchanged: ${escapeControls(why)}\n`);
    for (const { name, why } of refused) shell.stderr.write(`${escapeControls(name)}: ${escapeControls(why)}\n`);
  }
  return refused.length > 0 ? exitCodes.failed : exitCodes.fine;
}

/** Formats the cost from the hourly budget, such as `at most 3 requests`. */
function costWords({ requests }: CommandResult): string {
  return requests === 0 ? 'no request' : `at most ${counted(requests, 'request')}`;
}
