import { runningMachine } from './machine.ts';

/**
 * Replaces the clocks, timers and random numbers of this process by those of the machine that runs, if one does. For a process that
 * does nothing else: its modules cannot tell the difference.
 */
export function replaceGlobals(): void {
  const real = { setTimeout, clearTimeout, setInterval, setImmediate, Date, now: performance.now.bind(performance) };
  const realRandom = Math.random;

  const schedule = (ms: number, action: () => void, everyMs: number | null): VirtualTimer | null => {
    const machine = runningMachine();
    return machine === null ? null : new VirtualTimer(machine, { ms, everyMs, action });
  };
  const stop = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.stop();
    else real.clearTimeout(timer as NodeJS.Timeout);
  };

  Object.assign(globalThis, {
    setTimeout: (action: (...all: unknown[]) => void, ms = 0, ...all: unknown[]) =>
      schedule(Math.max(1, ms), () => action(...all), null) ?? real.setTimeout(action, ms, ...all),
    setInterval: (action: (...all: unknown[]) => void, ms = 0, ...all: unknown[]) =>
      schedule(Math.max(1, ms), () => action(...all), Math.max(1, ms)) ?? real.setInterval(action, ms, ...all),
    setImmediate: (action: (...all: unknown[]) => void, ...all: unknown[]) =>
      schedule(0, () => action(...all), null) ?? real.setImmediate(action, ...all),
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
    Date: class extends real.Date {
      constructor(...given: []) {
        if (given.length === 0) super(VirtualNow());
        else super(...given);
      }
      static override now(): number {
        return VirtualNow();
      }
    },
  });
  const VirtualNow = (): number => wallOf(runningMachine()) ?? real.Date.now();
  // For the replaced texts of hooks.ts.
  Object.assign(globalThis, {
    isFirstOfProcess: (what: string) => runningMachine()?.process?.isFirst(what) ?? false,
    memoryOfProcess: () => runningMachine()?.process?.memory ?? {},
  });
  const realSignal = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => {
    const machine = runningMachine();
    if (machine === null) return realSignal(ms);
    const end = new AbortController();
    machine.time.after(ms, () => end.abort(new DOMException('signal timed out', 'TimeoutError')), machine.process);
    return end.signal;
  };
  Math.random = () => runningMachine()?.ownRandom.next() ?? realRandom();
  // Counts from the start of the process, as the real one does.
  performance.now = () => {
    const machine = runningMachine();
    return machine === null ? real.now() : machine.time.elapsed - (machine.process?.bornAt ?? 0);
  };
}

function wallOf(machine: ReturnType<typeof runningMachine>): number | undefined {
  return machine === null ? undefined : machine.time.wall + (machine.process?.wallOffset ?? 0);
}

interface Plan {
  readonly ms: number;
  readonly everyMs: number | null;
  readonly action: () => void;
}

class VirtualTimer {
  readonly #plan: Plan;
  readonly #machine: NonNullable<ReturnType<typeof runningMachine>>;
  readonly #owner;
  #cancel: () => void;

  constructor(machine: NonNullable<ReturnType<typeof runningMachine>>, plan: Plan) {
    this.#machine = machine;
    this.#plan = plan;
    this.#owner = machine.process;
    this.#cancel = this.#arm(plan.ms);
  }

  stop(): void {
    this.#cancel();
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#arm(this.#plan.ms);
    return this;
  }

  #arm(ms: number): () => void {
    if (this.#owner?.isDead === true) return () => undefined;
    return this.#machine.time.after(
      ms,
      () => {
        const { everyMs, action } = this.#plan;
        if (everyMs !== null) this.#cancel = this.#arm(everyMs);
        action();
      },
      this.#owner,
    );
  }
}
