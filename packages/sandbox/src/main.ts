import { Command, CommanderError } from 'commander';
import { addKeyCommands, addSandboxCommand } from './commands/commands.ts';
import { CommandFailure, moment, plainTerminal, table } from './commands/plain-terminal.ts';
import { exitCodes } from './commands/terminal.ts';
import { packageVersion } from './package-files.ts';

/** Runs `dropcast-sandbox`: the sandbox without the daemon, with the options of `dropcast sandbox`. */
async function main(): Promise<void> {
  // The reader of the output may exit first, as in `| head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const stopping = new AbortController();
  const shell = {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    stopping: stopping.signal,
    // A second signal of the same kind then has no handler and ends the process immediately.
    takeOverSignals: () => {
      for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(name, () => stopping.abort());
    },
  };
  const terminal = { ...plainTerminal, shell };
  const program = new Command('dropcast-sandbox')
    .version(await packageVersion())
    .exitOverride()
    .showHelpAfterError('Run it with --help for its arguments and options.');
  addSandboxCommand(program, terminal, null);
  addKeyCommands(program, terminal, async () => ({ table, moment }));
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

/**
 * Returns the exit code of a failed command; the parser has already reported usage errors. @throws any other error, a
 * bug
 */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  if (!(error instanceof CommandFailure)) throw error;
  process.stderr.write(`${error.message}\n`);
  return error.exitCode;
}

await main();
