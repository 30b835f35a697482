import { escapeControls } from '../../log/unsafe-characters.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** One thing that a setup does. Doing it again does nothing. */
export interface Step {
  readonly name: string;
  /** @returns what was done, or that nothing had to be; null to say nothing */
  run(): Promise<string | null>;
}

/**
 * Does one step after the other and says what each did.
 *
 * @param again the command that goes on where this one stops
 * @throws {CommandError} that names the step that failed, why, and how to go on
 */
export async function runSteps(
  { stdout, stopping }: Pick<Shell, 'stdout' | 'stopping'>,
  steps: readonly Step[],
  again: string,
): Promise<void> {
  for (const { name, run } of steps) {
    try {
      if (stopping.aborted) throw new CommandError('stopped', exitCodes.failed);
      const did = await run();
      if (did !== null) stdout.write(`${name}: ${did.split('\n').map(escapeControls).join('\n')}\n`);
    } catch (error) {
      if (!(error instanceof CommandError) && !(error instanceof Error && 'syscall' in error)) throw error;
      const exitCode = error instanceof CommandError ? error.exitCode : exitCodes.failed;
      const message = `setup stopped at this step: ${name}\n${error.message}\nFix this, then run ${again} again: it continues here.`;
      throw new CommandError(message, exitCode, { cause: error });
    }
  }
}
