import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, aroundEach } from 'vitest';

/**
 * Setup file: a process ends with the test that started it, and one started outside of a test with the file. A test that
 * timed out takes its daemon with it; a test that passed and left one running fails.
 */
type Children = Set<ChildProcess>;

const ofTest = new AsyncLocalStorage<Children>();
const ofFile: Children = new Set();

subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess };
  const children = ofTest.getStore() ?? ofFile;
  children.add(child);
  child.once('exit', () => children.delete(child));
  child.once('error', () => child.pid === undefined && children.delete(child));
});

aroundEach(async (runTest, { task }) => {
  const children: Children = new Set();
  await ofTest.run(children, runTest);
  await endAll(children, { isLeak: task.result?.state !== 'fail' });
});

afterAll(() => endAll(ofFile, { isLeak: true }));

// The worker ends in the middle of a test: an error in it, or Ctrl-C.
process.on('exit', () => [...ofFile].forEach(killWithDescendants));

async function endAll(children: Children, { isLeak }: { readonly isLeak: boolean }): Promise<void> {
  const left = [...children];
  // Killed a moment ago, and not reaped yet.
  if (isLeak) await Promise.race([Promise.all(left.map(exited)), new Promise((resolve) => setTimeout(resolve, 2_000))]);
  const running = left.filter(isRunning);
  const ended = running.map(exited);
  running.forEach(killWithDescendants);
  await Promise.all(ended);
  const commands = running.map(({ spawnargs }) => spawnargs.join(' '));
  if (isLeak && commands.length > 0) throw new Error(`left running, and killed now:\n  ${commands.join('\n  ')}`);
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

async function exited(child: ChildProcess): Promise<void> {
  if (isRunning(child)) await once(child, 'exit');
}

function killWithDescendants({ pid }: ChildProcess): void {
  if (pid !== undefined) for (const one of [pid, ...descendantsOf(pid)]) kill(one);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** Read from /proc; empty where there is none. */
function descendantsOf(pid: number): readonly number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`)
      .map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'))
      .flatMap((line) => line.split(' ').filter(Boolean).map(Number));
    return children.flatMap((child) => [child, ...descendantsOf(child)]);
  } catch {
    return [];
  }
}

/** Starts what `act` starts as a part of the scope that is current now, also when a later test calls it. */
export function inThisScope(): <T>(act: () => T) => T {
  return AsyncLocalStorage.snapshot();
}
