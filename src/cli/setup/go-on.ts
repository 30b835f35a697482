import { shellWord } from '../../shell-word.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { AnswerFlags } from './answers.ts';
import { InterruptedError } from './questions.ts';

/** Flags of setup and init that say where to write. */
export interface PlaceFlags {
  readonly config?: string | undefined;
  readonly instance?: string | undefined;
  readonly group?: string | undefined;
}

/** The command with what was answered, without the key. @param command like `sudo dropcast setup` */
export function commandWith(command: string, flags: AnswerFlags & PlaceFlags): string {
  const { service, keyFile, keyEnv, folder, channel, title, feed, group, config, instance } = flags;
  const named = { service, 'key-file': keyFile, 'key-env': keyEnv, folder, channel, title };
  const words = Object.entries({ ...named, group, config, instance }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellWord(value)}`],
  );
  return [command, ...words, ...(feed ?? []).map((id) => `--feed ${shellWord(id)}`)].join(' ');
}

/**
 * Does what comes before the first file is written. Whoever stops it there learns how to go on without answering all of it again.
 *
 * @param goOn the command with the answers so far
 * @throws {CommandError} when somebody stops it
 */
export async function beforeWriting<T>(work: () => Promise<T>, goOn: () => string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    const message = `stopped before anything was written; to go on: ${goOn()}`;
    throw new CommandError(message, exitCodes.failed, { cause: error });
  }
}
