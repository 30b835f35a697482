import { Command, CommanderError } from 'commander';
import { addKeyCommands, addRunCommand, addSandboxCommand } from './commands/commands.ts';
import { exitCodes, type Column, type Terminal } from './commands/terminal.ts';
import { packageVersion } from './package-files.ts';
import { escapeControls, escapeJson } from '@dropcast/pages/unsafe-characters';

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
      for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(name, () => stopping.abort(name));
    },
  };
  const terminal = { ...plainTerminal, shell };
  const program = new Command('dropcast-sandbox')
    .version(await packageVersion())
    .exitOverride()
    .showHelpAfterError('Run it with --help for its arguments and options.');
  addSandboxCommand(program, terminal, null);
  addRunCommand(program, terminal, (code) => (process.exitCode = code));
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

/** Thrown to end a command of `dropcast-sandbox` with a sentence on stderr and an exit code. */
class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Prints output and errors for `dropcast-sandbox`, in plain text because it has no terminal libraries. */
const plainTerminal: Omit<Terminal, 'shell'> = {
  printJson: (document, stream) => stream.write(`${escapeJson(JSON.stringify({ v: 1, ...document }))}\n`),
  escapeControls,
  failure: (message, exitCode, options) => new CommandFailure(message, exitCode, options),
};

/** Formats rows below their titles, with each column as wide as its widest cell. */
function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => row.map(escapeControls))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const padded = (cell: string, index: number): string =>
    columns[index]?.align === 'right' ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0);
  return lines.map((line) => `${line.map(padded).join('  ').trimEnd()}\n`).join('');
}

/** Returns a time as the service sends it, or `-` for none. */
function moment(iso: string | null): string {
  return iso ?? '-';
}

await main();
