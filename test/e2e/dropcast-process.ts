import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The runtime that is locked in the package, as the service uses it. */
const node = join(root, 'node_modules/.bin/node');

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

export function startDropcast(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  uid?: number,
): DropcastProcess {
  const child = spawn(node, [join(root, 'src/main.ts'), ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part) => (stdout += String(part)));
  child.stderr.on('data', (part) => (stderr += String(part)));
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
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

/** A scratch directory with a configuration in it; everything is removed at the end. */
export interface Scratch extends AsyncDisposable {
  readonly path: string;
  readonly config: string;
  file(...names: string[]): string;
}

export async function makeScratch(config: (path: string) => string): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), 'dropcast-test-'));
  const file = join(path, 'dropcast.yaml');
  await writeFile(file, config(path), { mode: 0o600 });
  return {
    path,
    config: file,
    file: (...names) => join(path, ...names),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** Waits for a condition; fails with what was seen last. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
