import './thread-pool.ts';
import { homedir } from 'node:os';
import { escapeControls } from './log/unsafe-characters.ts';
import { errorDocument, hasDocument, printJson, wantsJson } from './cli/output/json.ts';
import { createProgram, usageExitCode } from './cli/program.ts';
import { CommandError, exitCodes } from './cli/shell.ts';
import type { Shell } from './cli/shell.ts';
import { leaveIfHung } from './leave-hung.ts';
import { priorityLines } from './log/line-format.ts';
import { packageVersion, sampleMedia } from './package-files.ts';
import { createStopSignals } from './stop-signals.ts';
import { aroundSuspension } from './suspension.ts';

/** The process boundary: arguments and signals in, exit code out. Nothing below reads settings from `process`. */
async function main(): Promise<void> {
  const signals = createStopSignals();
  // The program continues if the reader of its output exits (`| head`); a full disk is a failure.
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
    aroundSuspension,
  };
  const setExitCode = (code: number): void => {
    process.exitCode = code;
  };
  try {
    const installed = { version: await packageVersion(), samples: sampleMedia() };
    await createProgram(shell, installed, setExitCode).parseAsync(process.argv);
  } catch (error) {
    process.exitCode = report(error, { isJson: wantsJson(process.argv) && !hasDocument(process.stdout) });
  } finally {
    signals.commandEnded();
    leaveIfHung(() => Number(process.exitCode ?? exitCodes.fine));
  }
}

/** Returns null if the working directory was removed. */
function workingDirectory(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/**
 * Reports a user's mistake or a system error (no permission, disk full) in one sentence; only a bug shows a stack
 * trace.
 */
function report(error: unknown, { isJson }: { readonly isJson: boolean }): number {
  const usage = usageExitCode(error);
  const exit = usage ?? (error instanceof CommandError ? error.exitCode : exitCodes.failed);
  if (exit === exitCodes.fine) return exit;
  const text = error instanceof CommandError || usage !== null ? messageOf(error) : sentenceOf(error);
  // The parser has already reported wrong usage.
  if (usage === null) sayError(text);
  if (isJson) printJson(errorDocument(text, exit), process.stdout);
  return exit;
}

function sentenceOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error) return `dropcast cannot continue: ${error.message}`;
  return `dropcast crashed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^error: /, '') : String(error);
}

/** Prints the error that ended the command to stderr, where `journalctl -p err` finds it. */
function sayError(text: string): void {
  const lines = text.split('\n').map(escapeControls);
  process.stderr.write(`${priorityLines(lines, 'error', process.env).join('\n')}\n`);
}

await main();
