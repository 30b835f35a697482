import './thread-pool.ts';
import { homedir } from 'node:os';
import { escapeControls } from './log/unsafe-characters.ts';
import { createProgram, usageExitCode } from './cli/program.ts';
import { CommandError, exitCodes } from './cli/shell.ts';
import type { Shell } from './cli/shell.ts';
import { leaveIfHung } from './leave-hung.ts';
import { priorityLines } from './log/journal-stream.ts';
import { packageVersion, sampleMedia } from './package-files.ts';
import { createStopSignals } from './stop-signals.ts';

/** The process edge: arguments and signals in, exit code out. Nothing below reads `process` for settings. */
async function main(): Promise<void> {
  const signals = createStopSignals();
  // When the reader of the output exits (`| head`), the program continues; a full disk is a failure.
  let outputLost: NodeJS.ErrnoException | null = null;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') outputLost ??= error;
  });
  process.stderr.on('error', () => undefined);
  process.on('exit', () => {
    if (outputLost === null) return;
    process.exitCode ||= exitCodes.failed;
    sayError(`cannot write the output: ${outputLost.message}`);
  });
  const cwd = workingDirectory();
  if (cwd === null) {
    sayError('the current directory no longer exists: change to another one');
    process.exitCode = exitCodes.failed;
    return;
  }
  const shell: Shell = {
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd,
    home: homedir(),
    takeOverSignals: () => signals.takeOver(),
    stopping: signals.stopping,
    hurrying: signals.hurrying,
    onReload: (callback) => signals.onReload(callback),
  };
  const setExitCode = (code: number): void => {
    process.exitCode = code;
  };
  try {
    const installed = { version: await packageVersion(), samples: sampleMedia() };
    await createProgram(shell, installed, setExitCode).parseAsync(process.argv);
  } catch (error) {
    process.exitCode = report(error);
  } finally {
    signals.commandEnded();
    leaveIfHung(() => Number(process.exitCode ?? exitCodes.fine));
  }
}

/** Null when it was removed. */
function workingDirectory(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/** A user's mistake or a refusal of the system (no permission, disk full) is one sentence; only a bug shows a stack trace. */
function report(error: unknown): number {
  const usage = usageExitCode(error);
  if (usage !== null) return usage;
  if (error instanceof CommandError) {
    sayError(error.message);
    return error.exitCode;
  }
  if (error instanceof Error && 'syscall' in error) sayError(`dropcast cannot continue: ${error.message}`);
  else sayError(`dropcast crashed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return exitCodes.failed;
}

/** Reports what ended the command, on stderr, where `journalctl -p err` finds it. */
function sayError(text: string): void {
  const lines = text.split('\n').map(escapeControls);
  process.stderr.write(`${priorityLines(lines, 'error', process.env).join('\n')}\n`);
}

await main();
