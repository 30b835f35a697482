import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inherited } from '../../support/inherited.ts';
import { until } from '../../support/until.ts';
import type { Exit } from '../judge/evidence.ts';

const node = join(import.meta.dirname, '../../../node_modules/.bin/node');

/** A process of the program under judgement. */
export interface ProgramProcess {
  readonly pid: number;
  output(): string;
  isRunning(): boolean;
  send(signal: NodeJS.Signals): void;
  /** Waits for its end. One that does not end is killed, and the judge is told. */
  end(withinMs?: number): Promise<Exit>;
}

/**
 * @param program main file of the bundled program
 * @param env added to what every process gets
 * @param within a command that runs it, with its arguments
 */
export function startProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  within: readonly string[] = [],
): ProgramProcess {
  const [command = node, ...words] = [...within, node, program, ...args];
  const child = spawn(command, words, {
    env: { ...inherited(), NO_COLOR: '1', UV_USE_IO_URING: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let sent: string | null = ['before', 'after', 'tear'].includes(env['SHIM_DO'] ?? '') ? 'SIGKILL' : null;
  child.stdout.on('data', (part) => (output += String(part)));
  child.stderr.on('data', (part) => (output += String(part)));
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  let hasClosed = false;
  void closed.then(() => (hasClosed = true));
  return {
    pid: child.pid ?? 0,
    output: () => output,
    isRunning: () => !hasClosed,
    send: (signal) => {
      if (hasClosed) return;
      sent = signal;
      child.kill(signal);
    },
    end: async (withinMs = 60_000) => {
      const isStuck = await until(`${args[0]} ends`, () => hasClosed, { withinMs }).then(
        () => false,
        () => child.kill('SIGKILL'),
      );
      await closed;
      const { exitCode: code, signalCode: signal } = child;
      return { command: args.join(' '), code, signal, sent, stderr: output, isStuck };
    },
  };
}
