import { shellWord } from '../../shell-word.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { InterruptedError } from './questions.ts';

/** The options of setup and init that continue an interrupted run, in the order in which the command names them. */
const names = [
  ...(['service', 'keyFile', 'keyEnv', 'folder', 'channel', 'title', 'group', 'config', 'instance'] as const),
  ...(['yes', 'testClip', 'probe', 'force', 'feed'] as const),
];

/**
 * Rebuilds the command with the answers so far, but without the key.
 *
 * @param command such as `sudo dropcast setup`
 */
export function commandWith(
  command: string,
  flags: Readonly<Partial<Record<(typeof names)[number], string | boolean | readonly string[] | undefined>>>,
): string {
  const words = names.flatMap((name) => {
    const flag = `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
    return [flags[name] ?? false]
      .flat()
      .flatMap((value) => (typeof value === 'string' ? [`${flag} ${shellWord(value)}`] : value ? [flag] : []));
  });
  return [command, ...words].join(' ');
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
