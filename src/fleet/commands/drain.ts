import { setTimeout as delay } from 'node:timers/promises';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { userName } from '../../cli/act/user-name.ts';
import { printJson } from '../../cli/output/json.ts';
import type { Shared } from '../../cli/registry.ts';
import { CommandError, exitCodes } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';
import { askHosts } from './ask.ts';
import { untilDrained } from './until-drained.ts';

export interface DrainOptions extends Shared {
  readonly undo?: boolean;
  readonly wait?: boolean;
}

/** How often a host that is drained is looked at; its row is a few seconds old anyway. */
const lookMs = 1_000;

/**
 * `dropcast hosts drain NAME`: it finishes what runs, and starts nothing new.
 *
 * @returns exit code 1 when it fell silent before it was drained
 */
export async function drainHost(shell: Shell, name: string, options: DrainOptions): Promise<number> {
  const { undo: isUndone = false, wait = false, json = false } = options;
  if (isUndone && wait) throw new CommandError('--wait goes with draining, not with --undo', exitCodes.usage);
  const ask = await askHosts(shell, options);
  const changed = await ask.drain({ name, by: userName(shell), isUndone });
  if (!changed.ok) throw new CommandError(escapeControls(changed.what), exitCodes.failed);
  const say = (words: string): void => void (json ? undefined : shell.stdout.write(`${escapeControls(words)}.\n`));
  if (!wait) say(changed.what);
  else shell.takeOverSignals();
  const rest = async (): Promise<boolean> => {
    await delay(lookMs, undefined, { signal: shell.stopping }).catch(() => undefined);
    return !shell.stopping.aborted;
  };
  const host = wait ? await untilDrained(name, { ask, say, rest }) : changed.host;
  if (json) printJson({ ...changed, host }, shell.stdout);
  return wait && host?.state === 'silent' ? exitCodes.failed : exitCodes.fine;
}
