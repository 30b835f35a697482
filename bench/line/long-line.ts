import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { output } from '../child.ts';

/** A line to emulate. */
export interface LineSettings {
  /** Megabits per second, of IP packets. */
  readonly rateMbit: number;
  readonly roundTripMs: number;
  /** Per cent of the packets, in each direction. */
  readonly loss: number;
  readonly congestion: 'cubic' | 'bbr';
  /** Decides which packets are lost. */
  readonly seed: number;
}

/** A line between two network namespaces of this machine. */
export interface LongLine extends AsyncDisposable {
  /** The command that runs another one at the near end. */
  readonly near: readonly string[];
  readonly far: readonly string[];
  /** Address of the far end. */
  readonly address: string;
}

/** The router's buffer: as much as 100 ms of its rate. */
const bufferMs = 100;
const packetBytes = 1_500;
const addresses = { near: '10.91.0.1', far: '10.91.0.2' } as const;
export const farAddress = addresses.far;

/** Compiles the line. @throws {Error} without cc */
export async function buildLine(folder: string): Promise<void> {
  await output('cc', ['-O2', '-o', join(folder, 'line'), join(import.meta.dirname, 'line.c')]);
}

/** @param folder where it was built. @throws {Error} without the rights of root, or TUN devices */
export async function openLine(folder: string, settings: LineSettings): Promise<LongLine> {
  await using stack = new AsyncDisposableStack();
  const names = { near: `dropcast-near-${process.pid}`, far: `dropcast-far-${process.pid}` };
  const removeNamespaces = (): void => {
    for (const name of Object.values(names)) spawnSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
  };
  // Namespaces outlive their processes, also after Ctrl-C.
  process.once('exit', removeNamespaces);
  stack.defer(() => void process.off('exit', removeNamespaces));
  stack.defer(removeNamespaces);
  for (const name of Object.values(names)) await output('ip', ['netns', 'add', name]);
  const { rateMbit, roundTripMs, loss, congestion, seed } = settings;
  const figures = [rateMbit, roundTripMs, loss, 0, bufferMs, seed].map(String);
  const line = spawn(join(folder, 'line'), [names.near, names.far, ...figures], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(line, 'exit');
  stack.defer(async () => {
    line.stdin.end();
    await ended;
  });
  const ready = await Promise.race([once(createInterface(line.stdout), 'line'), ended]);
  if (ready[0] !== 'ready') throw new Error('the line cannot be opened: it needs root and /dev/net/tun');
  for (const end of ['near', 'far'] as const) {
    const ip = (...args: readonly string[]): Promise<string> => output('ip', ['-n', names[end], ...args]);
    await ip('link', 'set', 'lo', 'up');
    await ip('addr', 'add', `${addresses[end]}/24`, 'dev', 'line');
    await ip('link', 'set', 'line', 'mtu', String(packetBytes), 'up');
    // A namespace may use only the algorithms that its parent allows, a route any.
    await ip('route', 'replace', '10.91.0.0/24', 'dev', 'line', 'congctl', congestion);
  }
  const parts = stack.move();
  return {
    near: ['ip', 'netns', 'exec', names.near],
    far: ['ip', 'netns', 'exec', names.far],
    address: addresses.far,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
