import { resolve } from 'node:path';
import { notWatched } from '../../daemon/commands/pause.ts';
import { pauseEnd } from '../../daemon/commands/pause-end.ts';
import type { PauseResult, PauseWanted, ResumeResult, ResumeWanted } from '../../daemon/commands/pause.ts';
import { eventRow } from '../../daemon/news/lines.ts';
import { recordedIn, whyNotOlder } from '../../intake/first-start.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { pauseWords, resumeCommand } from '../../view/waits.ts';
import type { Config } from '../../config/config.ts';
import { commandDaemonOr, withLedger } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { counted } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { requireLoadable } from '../read-config.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes, userName } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface PauseOptions extends Shared {
  readonly all?: boolean;
  readonly until?: string;
}

/**
 * `dropcast pause FOLDER… | --all`: stops new work from starting. If no daemon is running, the pause applies from the
 * next start.
 */
export async function pause(shell: Shell, options: PauseOptions, names: readonly string[]): Promise<number> {
  if (names.length > 0 === (options.all === true))
    throw new CommandError('name the folders to pause, or pass --all', exitCodes.usage);
  const end = options.until === undefined ? null : pauseEnd(options.until, Date.now());
  if (end?.ok === false) throw new CommandError(`--until: ${end.message}`, exitCodes.usage);
  const until = end?.value ?? null;
  const folders = names.map((name) => resolve(shell.cwd, name));
  const wanted: PauseWanted = { folders, until, by: userName(shell) };
  const result = await changeOrNote<PauseResult>(shell, options, {
    path: '/pause',
    body: wanted,
    note: (ledger, config) => pauseInLedger(ledger, config, wanted),
  });
  printResult(result, { shell, json: options.json }, () => describe(result));
  for (const { name, why } of result.refused) shell.stderr.write(`${escapeControls(`${name} ${why}`)}\n`);
  return result.refused.length > 0 ? exitCodes.failed : exitCodes.fine;
}

function describe({ paused, running }: PauseResult): string {
  const lines = paused.map((one) => {
    const words = `${one.folder ?? 'Everything'} is ${pauseWords(one, Date.now())}`;
    return `${escapeControls(words)}; ${resumeCommand(one)} ends it.\n`;
  });
  if (running > 0) lines.push(`${counted(running, 'file')} under way will be finished.\n`);
  return lines.join('');
}

async function pauseInLedger(
  ledger: Ledger,
  { folders: watched, hostName }: Config,
  { folders, until, by }: PauseWanted,
): Promise<PauseResult> {
  const known = watched.map(({ path }) => path);
  const refused = folders.filter((folder) => !known.includes(folder)).map((name) => ({ name, why: notWatched(known) }));
  for (const folder of folders.length === 0 ? [null] : folders.filter((each) => known.includes(each))) {
    const now = Date.now();
    const pause = { folder, until, by, since: now };
    await ledger.savePause(pause, eventRow(hostName, { type: 'operator-pause', pause, is: 'set', by }, now));
  }
  return { v: 1, paused: await ledger.pauses(), running: 0, refused };
}

export interface ResumeOptions extends Shared {
  readonly all?: boolean;
}

/**
 * `dropcast resume FOLDER | --all`: ends the operator's pauses. For a frozen folder that is not paused, confirms that
 * the folder is as it should be. If no daemon is running, this applies from the next start, including `dropcast once`.
 */
export async function resume(shell: Shell, options: ResumeOptions, name?: string): Promise<number> {
  if ((name !== undefined) === (options.all === true))
    throw new CommandError('name the folder to resume, or pass --all to end every pause', exitCodes.usage);
  const folder = name === undefined ? null : resolve(shell.cwd, name);
  const wanted: ResumeWanted = { folder, by: userName(shell) };
  const result = await changeOrNote<ResumeResult>(shell, options, {
    path: '/resume',
    body: wanted,
    note: (ledger, config) => resumeInLedger(ledger, config, wanted),
  });
  return tellResult(shell, options, { folder, result });
}

/** Records a folder's files as already uploaded, for a ledger restored from an older copy. */
export async function adoptFolder(shell: Shell, options: Shared, name: string): Promise<number> {
  const folder = resolve(shell.cwd, name);
  const result = await changeOrNote<ResumeResult>(shell, options, {
    path: '/adopt',
    body: { folder },
    note: (ledger, config) => acceptInLedger(ledger, config, { folder, isAdopted: true }),
  });
  return tellResult(shell, options, { folder, result });
}

function tellResult(
  shell: Shell,
  { json }: Shared,
  { folder, result }: { readonly folder: string | null; readonly result: ResumeResult },
): number {
  if (json !== true && !result.ok) shell.stderr.write(`${escapeControls(result.why)}\n`);
  else
    printResult({ v: 1, folder, ...result }, { shell, json }, () =>
      result.ok ? `${escapeControls(result.what)}.\n` : '',
    );
  return result.ok ? exitCodes.fine : exitCodes.failed;
}

/** Sends a change to the running daemon, or notes it in the ledger for the next start. */
async function changeOrNote<T>(
  shell: Shell,
  options: Shared,
  { path, body, note }: { path: string; body: unknown; note(ledger: Ledger, config: Config): Promise<T> },
): Promise<T> {
  const place = await requireDaemonPlace(shell, options.config);
  return commandDaemonOr(place, { path, body }, async () => {
    const config = await requireLoadable(shell, options.config);
    return withLedger(config, (ledger) => note(ledger, config));
  });
}

/**
 * Resumes folders in the ledger. Without a daemon, there is no knowing whether a folder is frozen, so its next scan
 * accepts whatever it finds.
 */
async function resumeInLedger(ledger: Ledger, config: Config, { folder, by }: ResumeWanted): Promise<ResumeResult> {
  const paused = (await ledger.pauses()).filter((pause) => folder === null || pause.folder === folder);
  for (const pause of paused) {
    const event = { type: 'operator-pause', pause, is: 'over', by } as const;
    await ledger.dropPause(pause.folder, eventRow(config.hostName, event, Date.now()));
  }
  if (folder === null)
    return { ok: true, what: paused.length === 0 ? 'Nothing was paused' : 'All folders resume at the next start' };
  if (paused.length > 0) return { ok: true, what: `${folder} is no longer paused` };
  return acceptInLedger(ledger, config, { folder, isAdopted: false });
}

/**
 * @param accepted.isAdopted whether all files in the folder were already uploaded, even if the ledger does not list
 *   them
 */
async function acceptInLedger(
  ledger: Ledger,
  { folders }: Config,
  { folder, isAdopted }: { readonly folder: string; readonly isAdopted: boolean },
): Promise<ResumeResult> {
  const known = folders.map(({ path }) => path);
  if (!known.includes(folder)) return { ok: false, why: `${folder} ${notWatched(known)}` };
  const { answerOffline } = await import('../../daemon/commands/offline.ts');
  const isBehind = await answerOffline(ledger, { folder, others: known.filter((path) => path !== folder), isAdopted });
  if (isAdopted && !isBehind) return { ok: false, why: whyNotOlder(folder) };
  const record = (await ledger.roots.load(folder)) ?? { identity: null };
  await ledger.roots.save(folder, { ...record, doubt: { is: 'resumed', isOlder: isBehind } });
  return { ok: true, what: isAdopted ? recordedIn(folder) : `The next start accepts ${folder} as it is then` };
}
