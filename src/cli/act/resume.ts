import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { eventRow } from '../../daemon/news/lines.ts';
import { notWatched } from '../../daemon/commands/pause.ts';
import type { ResumeResult, ResumeWanted } from '../../daemon/commands/pause.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { recordedIn, whyNotOlder } from '../../intake/first-start.ts';
import { commandDaemonOr, withLedger } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { printJson } from '../output/json.ts';
import { requireLoadable } from '../read-config.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { userName } from './user-name.ts';

export interface ResumeOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly all?: boolean;
}

/**
 * `dropcast resume FOLDER | --all`: ends the operator's pauses. For a frozen folder that is not paused, confirms that
 * the folder is as it should be. If no daemon is running, this applies from the next start, including `dropcast once`.
 */
export async function resume(shell: Shell, name: string | undefined, options: ResumeOptions): Promise<number> {
  if ((name !== undefined) === (options.all === true))
    throw new CommandError('name the folder to resume, or pass --all to end every pause', exitCodes.usage);
  const place = await requireDaemonPlace(shell, options.config);
  const folder = name === undefined ? null : resolve(shell.cwd, name);
  const wanted: ResumeWanted = { folder, by: userName(shell) };
  const result = await commandDaemonOr<ResumeResult>(place, { path: '/resume', body: wanted }, async () => {
    const config = await requireLoadable(shell, options.config);
    return withLedger(config, (ledger) => noteInLedger(config, ledger, wanted));
  });
  return tellResult(shell, { folder, isJson: options.json === true }, result);
}

export function tellResult(
  shell: Shell,
  { folder, isJson }: { readonly folder: string | null; readonly isJson: boolean },
  result: ResumeResult,
): number {
  if (isJson) printJson({ v: 1, folder, ...result }, shell.stdout);
  else if (result.ok) shell.stdout.write(`${escapeControls(result.what)}.\n`);
  else shell.stderr.write(`${escapeControls(result.why)}\n`);
  return result.ok ? exitCodes.fine : exitCodes.failed;
}

/**
 * Resumes folders in the ledger. Without a daemon, there is no knowing whether a folder is frozen, so its next scan
 * accepts whatever it finds.
 */
async function noteInLedger(
  { folders, hostName }: Config,
  ledger: Ledger,
  { folder, by }: ResumeWanted,
): Promise<ResumeResult> {
  const paused = (await ledger.pauses()).filter((pause) => folder === null || pause.folder === folder);
  for (const pause of paused) {
    const event = { type: 'operator-pause', pause, is: 'over', by } as const;
    await ledger.dropPause(pause.folder, eventRow(hostName, event, Date.now()));
  }
  if (folder === null)
    return { ok: true, what: paused.length === 0 ? 'Nothing was paused' : 'All folders resume at the next start' };
  if (paused.length > 0) return { ok: true, what: `${folder} is no longer paused` };
  return answerInLedger({ folders }, ledger, { folder, isAdopted: false });
}

/**
 * @param answer.isAdopted whether all files in the folder were already uploaded, even if the ledger does not list them
 */
export async function answerInLedger(
  { folders }: Pick<Config, 'folders'>,
  ledger: Ledger,
  { folder, isAdopted }: { readonly folder: string; readonly isAdopted: boolean },
): Promise<ResumeResult> {
  const known = folders.map(({ path }) => path);
  if (!known.includes(folder)) return { ok: false, why: `${folder} ${notWatched(known)}` };
  const { answerOffline } = await import('../../daemon/adoption/answer-offline.ts');
  const isBehind = await answerOffline(ledger, { folder, others: known.filter((path) => path !== folder), isAdopted });
  if (isAdopted && !isBehind) return { ok: false, why: whyNotOlder(folder) };
  const record = (await ledger.roots.load(folder)) ?? { identity: null };
  await ledger.roots.save(folder, { ...record, doubt: { is: 'resumed', isOlder: isBehind } });
  return { ok: true, what: isAdopted ? recordedIn(folder) : `The next start accepts ${folder} as it is then` };
}
