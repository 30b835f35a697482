import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { LONGEST, parseDuration } from '../../config/units.ts';
import { type PauseResult, type PauseWanted, notWatched } from '../../daemon/commands/pause.ts';
import { eventRow } from '../../daemon/news/lines.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { pauseWords, resumeCommand } from '../../view/waits.ts';
import { commandDaemonOr, withLedger } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { requireLoadable } from '../read-config.ts';
import { CommandError, type Shell, exitCodes } from '../shell.ts';
import { userName } from './user-name.ts';

export interface PauseOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly all?: boolean;
  readonly until?: string;
}

/**
 * `dropcast pause FOLDER… | --all`: stops new work from starting. If no daemon is running, the pause applies from the
 * next start.
 */
export async function pause(shell: Shell, names: readonly string[], options: PauseOptions): Promise<number> {
  if (names.length > 0 === (options.all === true))
    throw new CommandError('name the folders to pause, or pass --all', exitCodes.usage);
  const until = options.until === undefined ? null : pauseEnd(options.until, Date.now());
  const place = await requireDaemonPlace(shell, options.config);
  const folders = names.map((name) => resolve(shell.cwd, name));
  const wanted: PauseWanted = { folders, until, by: userName(shell) };
  const result = await commandDaemonOr<PauseResult>(place, { path: '/pause', body: wanted }, async () =>
    pauseInLedger(await requireLoadable(shell, options.config), wanted),
  );
  if (options.json === true) printJson(result, shell.stdout);
  else print(shell, result);
  for (const { name, why } of result.refused) shell.stderr.write(`${escapeControls(`${name} ${why}`)}\n`);
  return result.refused.length > 0 ? exitCodes.failed : exitCodes.fine;
}

function print(shell: Shell, { paused, running }: PauseResult): void {
  for (const one of paused)
    shell.stdout.write(
      `${escapeControls(one.folder ?? 'Everything')} is ${escapeControls(pauseWords(one, Date.now()))}; ${resumeCommand(one)} ends it.\n`,
    );
  if (running > 0) shell.stdout.write(`${counted(running, 'file')} under way will be finished.\n`);
}

async function pauseInLedger(config: Config, { folders, until, by }: PauseWanted): Promise<PauseResult> {
  const known = config.folders.map(({ path }) => path);
  const refused = folders.filter((folder) => !known.includes(folder)).map((name) => ({ name, why: notWatched(known) }));
  return withLedger(config, async (ledger) => {
    const pauses = folders.length === 0 ? [null] : folders.filter((folder) => known.includes(folder));
    for (const folder of pauses) {
      const now = Date.now();
      const pause = { folder, until, by, since: now };
      await ledger.savePause(pause, eventRow(config.hostName, { type: 'operator-pause', pause, is: 'set', by }, now));
    }
    return { v: 1, paused: await ledger.pauses(), running: 0, refused };
  });
}

const timeOfDay = /^([01]?\d|2[0-3]):([0-5]\d)$/;

/**
 * Computes when a pause ends: `2h` from now, or the next `18:00` in the user's local time. Pure.
 *
 * @param now epoch milliseconds, like the result
 * @throws {CommandError} when the text is neither
 */
export function pauseEnd(text: string, now: number): number {
  const time = timeOfDay.exec(text);
  if (time !== null) return nextTime(Number(time[1]), Number(time[2]), now);
  const duration = parseDuration(text, { min: '1s', max: LONGEST });
  if (duration.ok) return now + duration.value;
  const isOutOfRange = duration.message.startsWith('too ');
  const neither = `neither a time of day like 18:00 nor a duration like 30m or 2h: ${text}`;
  throw new CommandError(`--until: ${isOutOfRange ? duration.message : neither}`, exitCodes.usage);
}

/** The next occurrence of a time of day. Uses calendar days, so that days of 23 or 25 hours work. */
function nextTime(hours: number, minutes: number, now: number): number {
  const at = new Date(now);
  at.setHours(hours, minutes, 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return at.getTime();
}
