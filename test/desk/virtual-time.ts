import { registerHooks } from 'node:module';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { replaceGlobals } from '../reliability/simulation/machine/globals.ts';
import { Machine, switchOn } from '../reliability/simulation/machine/machine.ts';

// Kept before anything replaces them.
const realImmediate = setImmediate;
const realTimeout = setTimeout;

/** One clock for everything in this process: it jumps to the next timer whenever disk, network and threads are quiet. */
export interface VirtualTime {
  /** Epoch milliseconds. */
  now(): number;
  /** Lets time pass until the condition holds, or the moment has come. Resolves to whether it holds. */
  pass(until: { readonly moment: number }): Promise<void>;
  /**
   * Lets at most 50 ms pass for each real one: modules that are loaded are neither disk nor network.
   * @param stepMs instead of 50
   */
  trickle(isEnough: () => boolean, stepMs?: number): Promise<void>;
}

/** Replaces the clocks and timers of this process, which must do nothing else. @param beginsAt epoch milliseconds */
export function startVirtualTime(beginsAt: number): VirtualTime {
  const machine = new Machine(1);
  machine.time.wallOffset = beginsAt - machine.time.trueWall;
  machine.boot(Infinity);
  switchOn(machine);
  countErrandsOfThreads();
  replaceTimers();
  replaceGlobals();
  const { time } = machine;
  return {
    now: () => time.wall,
    pass: async ({ moment }) => {
      let isOver = false;
      time.after(moment - time.wall, () => (isOver = true), null);
      await time.runUntil(() => isOver, quiet);
    },
    trickle: async (isEnough, stepMs = 50) => {
      let isOver = isEnough();
      const step = (): void => {
        isOver ||= isEnough();
        if (!isOver) time.after(stepMs, step, null);
      };
      step();
      await time.runUntil(() => isOver || isEnough(), slowly);
      isOver = true;
    },
  };
}

/** Resolves when some turns of the event loop in a row bring nothing, and no disk, process or thread is busy. */
async function quiet(): Promise<void> {
  for (let turns = 0; turns < quietTurns; turns += 1) {
    const before = performance.nodeTiming.uvMetricsInfo.events;
    await new Promise((resolve) => realImmediate(resolve));
    if (isBusy()) await new Promise((resolve) => realTimeout(resolve, 0));
    else if (performance.nodeTiming.uvMetricsInfo.events === before) continue;
    turns = -1;
  }
}

async function slowly(): Promise<void> {
  await new Promise((resolve) => realTimeout(resolve, 1));
  await quiet();
}

const quietTurns = 3;
const busyKinds = /^(?:FSReq|CloseReq|GetAddrInfo|Process|.*Connect|Zlib|Random|Hash|Sign|KeyPair)/i;

function isBusy(): boolean {
  return errands.count > 0 || process.getActiveResourcesInfo().some((kind) => busyKinds.test(kind));
}

/** What threads were asked and have not answered. */
const errands = { count: 0 };

function countErrandsOfThreads(): void {
  // A new thread says one word when it is ready.
  process.on('worker', (worker: Worker) => {
    errands.count += 1;
    worker.once('message', () => (errands.count -= 1));
  });
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function post(this: Worker, ...message: Parameters<typeof postMessage>) {
    errands.count += 1;
    this.once('message', () => (errands.count -= 1));
    postMessage.apply(this, message);
  };
}

/** What looks every second or two whether anything is due: three days have a quarter of a million seconds. */
const slower = [
  { file: '/src/daemon/expectations/expectations.ts', from: 'const everyMs = 5_000', to: 'const everyMs = 30_000' },
  { file: '/src/status/notifications/notifications.ts', from: 'const everyMs = 5_000', to: 'const everyMs = 30_000' },
  { file: '/src/pipeline/loop.ts', from: 'const tickMs = 1_000', to: 'const tickMs = 30_000' },
  { file: '/src/watch/clock.ts', from: 'const TICK_MS = 1000', to: 'const TICK_MS = 30_000' },
];

/** Modules of the product that import timers get those of the virtual clock. */
function replaceTimers(): void {
  registerHooks({
    load: (url, context, next) => {
      const change = slower.find(({ file }) => url.endsWith(file));
      if (change === undefined) return next(url, context);
      const { source = '', ...loaded } = next(url, context);
      const text = typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString();
      if (!text.includes(change.from)) throw new Error(`${change.file} does not say: ${change.from}`);
      return { ...loaded, source: text.replace(change.from, change.to) };
    },
    resolve: (specifier, context, next) =>
      specifier === 'node:timers/promises' && /\/(?:src|packages\/[^/]+\/src)\//.test(context.parentURL ?? '')
        ? { url: new URL('virtual-timers.ts', import.meta.url).href, shortCircuit: true }
        : next(specifier, context),
  });
}
