import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { exitCodes, whenAborted } from '@dropcast/sandbox/commands/terminal';
import type { Shell, Terminal } from '@dropcast/sandbox/commands/terminal';
import { compare } from '../compare/compare.ts';
import { startRecorder } from '../recorder.ts';
import type { Recorder, RecorderOptions } from '../recorder.ts';
import { readRecording, RecordingError } from '../recording.ts';
import type { RecordedExchange, Recording } from '../recording.ts';
import { startReplay } from '../replay.ts';
import { comparisonText, counted } from './comparison-text.ts';

/** The terminal of commands that read and write files and may be interrupted twice. */
export type RecordingTerminal = Terminal<RecordingShell>;

interface RecordingShell extends Shell {
  /** Absolute path. */
  readonly cwd: string;
  /** Aborts at the second request to stop, after which running work must be aborted. */
  readonly hurrying: AbortSignal;
}

export interface RecordOptions {
  readonly to: string;
  readonly out: string;
  readonly port: number;
  readonly ca?: string;
  readonly redact?: readonly string[];
  readonly sendKeyTo?: readonly string[];
}

/**
 * `record`: forwards traffic between a program and a service until stopped, then compares the service with the
 * contract. Exit code 1 if the recording is incomplete.
 */
export async function record(terminal: RecordingTerminal, options: RecordOptions): Promise<number> {
  const { shell } = terminal;
  shell.takeOverSignals();
  const file = resolve(shell.cwd, options.out);
  let isWhole = true;
  const onTrouble = (error: unknown): void => {
    isWhole = false;
    const why = error instanceof Error ? error.message : 'unknown';
    shell.stderr.write(`Cannot write ${options.out}: ${why}. All further requests are refused.\n`);
  };
  await using recorder = await start(terminal, options, { file, onTrouble });
  shell.stdout.write(`${recorder.baseUrl}\n`);
  shell.stderr.write(`Records the traffic to ${options.to} in ${options.out}.
Give your program the address above instead, with the same key. Press Ctrl-C to stop and to compare the service.
`);
  await whenAborted(shell.stopping);
  if (recorder.underWay > 0)
    shell.stderr.write(
      `\nWaiting up to 10 s for ${counted(recorder.underWay, 'request')} to end. Press Ctrl-C again to abort.\n`,
    );
  shell.hurrying.addEventListener('abort', () => void recorder.close(0), { once: true });
  await recorder.close();
  const { exchanges } = await readRecording(file);
  shell.stderr.write(`\n${options.out} has ${counted(exchanges.length, 'exchange')}.\n`);
  const comparison = compare(exchanges);
  shell.stderr.write(comparisonText(comparison, terminal.escapeControls));
  if (isWhole) return exitCodes.fine;
  shell.stderr.write(`\n${options.out} is incomplete, because it could not be written to the end.\n`);
  return exitCodes.failed;
}

/** `compare FILE`: exit code 1 if the service deviates from the specification or openapi.yaml. */
export async function compareRecording(
  terminal: RecordingTerminal,
  file: string,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { shell } = terminal;
  const { exchanges, head, isTorn } = await open(terminal, file);
  const comparison = compare(exchanges);
  if (isTorn)
    shell.stderr.write(
      'Its last line is incomplete: the recorder was killed, or the disk was full. Everything before it is compared.\n',
    );
  if (json === true) terminal.printJson({ to: head.to, at: head.at, ...comparison }, shell.stdout);
  else shell.stdout.write(comparisonText(comparison, terminal.escapeControls));
  return comparison.violated.length + comparison.contradicted.length === 0 ? exitCodes.fine : exitCodes.failed;
}

/** `replay FILE`: answers from a recording until stopped. */
export async function replay(
  terminal: RecordingTerminal,
  file: string,
  { port, strict = false }: { readonly port: number; readonly strict?: boolean },
): Promise<number> {
  const { shell } = terminal;
  const { exchanges } = await open(terminal, file);
  shell.takeOverSignals();
  let misses = 0;
  const onMiss = (sentence: string): void => {
    misses += 1;
    shell.stderr.write(`${terminal.escapeControls(sentence)}\n`);
  };
  await using service = await startReplay({ exchanges, port, strict, onMiss }).catch(refusing(terminal, port));
  shell.stdout.write(`${service.baseUrl}\n`);
  shell.stderr.write(
    `Answers with the ${counted(exchanges.length, 'exchange')} of ${file}; any key will do. Press Ctrl-C to end.\n`,
  );
  await whenAborted(shell.stopping);
  const unused = service.unused();
  shell.stderr.write(
    `\n${counted(misses, 'request')} without a recorded answer; ${counted(unused.length, 'exchange')} not asked for.\n`,
  );
  return misses === 0 ? exitCodes.fine : exitCodes.failed;
}

async function start(
  terminal: RecordingTerminal,
  { to, port, ca, redact, sendKeyTo, out }: RecordOptions,
  writing: Pick<RecorderOptions, 'file' | 'onTrouble'>,
): Promise<Recorder> {
  const { shell, escapeControls, failure } = terminal;
  const trusted = ca === undefined ? {} : { ca: await certificate(terminal, ca) };
  const wanted = { ...(redact && { redact }), ...(sendKeyTo && { sendKeyTo }) };
  const onExchange = ({ number, method, target, answer, broken }: RecordedExchange): void =>
    void shell.stderr.write(`${number} ${method} ${escapeControls(target)} ${broken ?? answer?.status ?? ''}\n`);
  return await startRecorder({ to, port, ...trusted, ...wanted, onExchange, ...writing }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error instanceof TypeError) throw failure(`--to: ${error.message}`, exitCodes.usage, { cause: error });
      if (error.code === 'EEXIST')
        throw failure(`${out} already exists: choose another file with --out`, exitCodes.usage, {
          cause: error,
        });
      return refusing(terminal, port)(error);
    },
  );
}

function refusing({ failure }: RecordingTerminal, port: number): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    const why =
      error.code === 'EADDRINUSE'
        ? `port ${port} is in use; choose another with --port, or 0 for any free port`
        : error.message;
    throw failure(why, exitCodes.failed, { cause: error });
  };
}

async function certificate({ shell, failure }: RecordingTerminal, given: string): Promise<string> {
  const path = resolve(shell.cwd, given);
  return await readFile(path, 'utf8').catch((error: unknown) => {
    throw failure(`--ca: cannot read ${path}`, exitCodes.usage, { cause: error });
  });
}

async function open({ shell, failure }: RecordingTerminal, file: string): Promise<Recording> {
  return await readRecording(resolve(shell.cwd, file)).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof RecordingError) throw failure(error.message, exitCodes.failed, { cause: error });
    throw failure(`cannot read ${file}: ${error.code ?? error.message}`, exitCodes.failed, { cause: error });
  });
}
