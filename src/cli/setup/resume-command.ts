import { shellWord } from '../../shell-word.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { AnswerFlags } from './answers.ts';
import { InterruptedError } from './questions.ts';

/** Flags of setup and init other than answers: where to write, and how to proceed. */
export interface OtherFlags {
  readonly config?: string | undefined;
  readonly instance?: string | undefined;
  readonly group?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly testClip?: boolean | undefined;
  readonly probe?: boolean | undefined;
  readonly force?: boolean | undefined;
}

/**
 * Rebuilds the command with the answers so far, but without the key.
 *
 * @param command such as `sudo dropcast setup`
 */
export function commandWith(command: string, flags: Omit<AnswerFlags, 'yes'> & OtherFlags): string {
  const {
    service,
    keyFile,
    keyEnv,
    folder,
    channel,
    title,
    feed,
    group,
    config,
    instance,
    yes,
    testClip,
    probe,
    force,
  } = flags;
  const named = { service, 'key-file': keyFile, 'key-env': keyEnv, folder, channel, title };
  const words = Object.entries({ ...named, group, config, instance }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellWord(value)}`],
  );
  const given = Object.entries({ yes, 'test-clip': testClip, probe, force }).flatMap(([name, is]) =>
    is === true ? [`--${name}`] : [],
  );
  return [command, ...words, ...given, ...(feed ?? []).map((id) => `--feed ${shellWord(id)}`)].join(' ');
}

/**
 * Runs the work that precedes the first write. If the user interrupts it, the error shows how to continue without
 * answering everything again.
 *
 * @param goOn returns the command with the answers so far
 * @throws {CommandError} when the user interrupts the work
 */
export async function beforeWriting<T>(work: () => Promise<T>, goOn: () => string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    const message = `stopped before anything was written; to continue: ${goOn()}`;
    throw new CommandError(message, exitCodes.failed, { cause: error });
  }
}
