import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { afterAll, aroundEach } from 'vitest';
import { killWithDescendants, noteStarted } from './started-processes.ts';

/**
 * Setup file: a process ends with the test that started it, and one started outside of a test with the file. A test that
 * timed out takes its daemon with it; a test that passed and left one running fails.
 */
type Children = Set<ChildProcess>;

const ofTest = new AsyncLocalStorage<Children>();
const ofFile: Children = new Set();
const all: Children = new Set();

function note(message: unknown): void {
  const { process: child } = message as { process: ChildProcess };
  const children = ofTest.getStore() ?? ofFile;
  for (const set of [children, all]) {
    set.add(child);
    child.once('exit', () => set.delete(child));
    child.once('error', () => child.pid === undefined && set.delete(child));
  }
  child.once('spawn', () => {
    const list = process.env['DROPCAST_TEST_PROCESSES'];
    if (list !== undefined && child.pid !== undefined) noteStarted(list, child.pid, child.spawnargs.join(' '));
  });
}

aroundEach(async (runTest, { task }) => {
  const children: Children = new Set();
  await ofTest.run(children, runTest);
  await endAll(children, { isLeak: task.result?.state !== 'fail' });
});

/** The worker ends in the middle of a test. */
function killAll(): void {
  for (const { pid } of all) if (pid !== undefined) killWithDescendants(pid);
}

subscribe('child_process', note);
process.on('exit', killAll);
afterAll(async () => {
  await endAll(ofFile, { isLeak: true });
  // Another file of the same worker brings its own.
  unsubscribe('child_process', note);
  process.off('exit', killAll);
});

async function endAll(children: Children, { isLeak }: { readonly isLeak: boolean }): Promise<void> {
  const left = [...children];
  if (left.length === 0) return;
  // Killed a moment ago, and not reaped yet.
  if (isLeak) await Promise.race([Promise.all(left.map(exited)), new Promise((resolve) => setTimeout(resolve, 2_000))]);
  const running = left.filter(isRunning);
  const ended = running.map(exited);
  for (const { pid } of running) if (pid !== undefined) killWithDescendants(pid);
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

/** Starts what `act` starts as a part of the scope that is current now, also when a later test calls it. */
export function inThisScope(): <T>(act: () => T) => T {
  return AsyncLocalStorage.snapshot();
}
