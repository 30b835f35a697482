import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { inject } from 'vitest';
import { checkPrinted } from '../contract/golden/printed.ts';
import { inherited } from '../support/inherited.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { writeConfig, type Settings } from '../support/configuration.ts';

/** The runtime that is locked in the package, as the service uses it. */
export const node = join(import.meta.dirname, '../../node_modules/.bin/node');

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A dropcast process. Leaving its block kills it. */
export interface DropcastProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  output(): string;
  ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): Promise<Ended>;
}

/** Its end rejects when a document that it printed with `--json` is not the one that the contract lists. */
export function startDropcast(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  uid?: number,
): DropcastProcess {
  const child = spawn(node, [inject('program'), ...args], {
    env: { ...inherited(), NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part) => (stdout += String(part)));
  child.stderr.on('data', (part) => (stderr += String(part)));
  const closed = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const ended = closed.then((end) => {
    checkPrinted(args, end.stdout);
    return end;
  });
  const kill = (signal: NodeJS.Signals): Promise<Ended> => {
    child.kill(signal);
    return ended;
  };
  return {
    child,
    ended,
    kill,
    output: () => stdout + stderr,
    [Symbol.asyncDispose]: async () => {
      await kill('SIGKILL');
    },
  };
}

/** Runs a command to its end. */
export async function dropcast(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  await using process = startDropcast(args, env);
  return await process.ended;
}

/** A scratch directory with a configuration in it. */
export interface Scratch extends ScratchDirectory {
  readonly config: string;
}

export async function makeScratch(settings?: Settings): Promise<Scratch> {
  const directory = await scratchDirectory();
  return { ...directory, config: await writeConfig(directory, settings) };
}
