import { basename, join } from 'node:path';
import { serviceOf } from '../../config/installed-service.ts';
import { ROTATED } from '../../ledger/append-log.ts';
import { createFailurePrinter, parseFailure } from './failure-lines.ts';
import { linesOf, tail } from './tail.ts';
import { printDocument } from '../output/json.ts';
import type { DaemonPlace } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface FailuresOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly follow?: boolean;
  /** How far to look back, in milliseconds. */
  readonly since: number;
}

/**
 * `dropcast failures`: prints what failed, why, and what happens next, one failure per line from failures.jsonl. Works
 * without a daemon.
 */
export async function failures(shell: Shell, options: FailuresOptions): Promise<void> {
  const isFollowing = options.follow === true;
  if (isFollowing) shell.takeOverSignals();
  const reader = new AbortController();
  const leave = (): void => reader.abort();
  shell.stdout.once('error', leave);
  const path = logOf(await requireDaemonPlace(shell, options.config));
  const show = createShow(shell, options, Date.now() - options.since);
  try {
    for await (const line of linesOf(`${path}${ROTATED}`)) show.line(line);
    for await (const line of tail(path, AbortSignal.any([shell.stopping, reader.signal]))) {
      if (line !== null) show.line(line);
      else if (isFollowing) show.flush();
      else break;
    }
    show.flush();
    if (!isFollowing && options.json !== true && show.shown() === 0)
      shell.stderr.write('No failures in this time; --since looks further back.\n');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const sudo =
      'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
        ? '; run the command with sudo, or see the latest with `dropcast events --level warn`'
        : '';
    throw new CommandError(`cannot read the failure log ${path}: ${error.message}${sudo}`, exitCodes.failed, {
      cause: error,
    });
  } finally {
    shell.stdout.off('error', leave);
  }
}

function createShow(
  shell: Shell,
  { json }: FailuresOptions,
  sinceMs: number,
): { line(line: string): void; flush(): void; shown(): number } {
  let shown = 0;
  const printer = createFailurePrinter((line) => shell.stdout.write(`${line}\n`), Date.now);
  return {
    line: (line) => {
      const record = parseFailure(line);
      if (record === null || Date.parse(record.at) < sinceMs) return;
      shown += 1;
      if (json === true) printDocument(`${line}\n`, shell.stdout);
      else printer.add(record);
    },
    flush: printer.flush,
    shown: () => shown,
  };
}

/** Path of the failure log. systemd passes the log directory to the daemon, but a user's shell does not have it. */
function logOf({ file, failureLog }: DaemonPlace): string {
  const service = serviceOf(file);
  return service === null ? failureLog : join('/var/log', service.name, basename(failureLog));
}
