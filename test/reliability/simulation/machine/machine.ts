import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { Random } from './random.ts';
import { Timeline } from './timeline.ts';

/** A call of the daemon to the system, at which it may die. */
export interface Call {
  readonly name: string;
  readonly detail: string;
}

/** Thrown into code of a process that was killed in the middle of a synchronous call. */
export class KilledError extends Error {
  override readonly name = 'KilledError';
}

const never = new Promise<never>(() => undefined);

/** The process whose code runs, where several share the machine. */
const running = new AsyncLocalStorage<Process>();

/** One life of the daemon, from its start to its end. After the end nothing that it waits for ever comes. */
export class Process {
  readonly bornAt: number;
  readonly death = Promise.withResolvers<void>();
  isDead = false;
  /** SIGSTOP: nothing that is due to it happens before this moment. */
  frozenUntil = 0;
  /** How far its wall clock is from that of the machine, in milliseconds. */
  wallOffset = 0;
  calls = 0;
  readonly name: string;
  /** Dies at this call; Infinity: it does not. */
  #diesAt: number;
  readonly #used = new Set<string>();
  /** What modules keep in memory, where several processes share them. */
  readonly memory: Record<string, unknown> = {};

  constructor(bornAt: number, diesAt: number, name = '') {
    this.bornAt = bornAt;
    this.name = name;
    this.#diesAt = diesAt;
  }

  /** Runs what belongs to this process. */
  run<T>(work: () => T): T {
    return running.run(this, work);
  }

  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.death.resolve();
  }

  /** From here on nothing happens to it that the machine thought of. */
  spare(): void {
    this.frozenUntil = 0;
    this.#diesAt = Infinity;
  }

  /** Whether nobody asked for this before in this process. */
  isFirst(what: string): boolean {
    const isFirst = !this.#used.has(what);
    this.#used.add(what);
    return isFirst;
  }

  /** Counts a moment before or after a call; whether it was the last. */
  isLast(): boolean {
    this.calls += 1;
    if (this.calls < this.#diesAt) return false;
    this.kill();
    return true;
  }
}

/** One simulated computer: its time, its random numbers, the process that runs on it, and the log of all that happened. */
export class Machine {
  readonly seed: number;
  readonly time: Timeline;
  readonly random: Random;
  /** What the daemon itself draws. */
  readonly ownRandom: Random;
  readonly reached = new Set<string>();
  /** Set when a person wants to read along. */
  onLine: ((line: string) => void) | null = null;
  #process: Process | null = null;
  /** When it was switched on last, in milliseconds since the beginning. */
  bootedAt = 0;
  /** How much longer than that of a local disk each call takes: a share answers in milliseconds. */
  slowness = 1;
  /** How long a commit takes at most, in milliseconds. */
  commitMs = 0;
  /** How likely a call of the daemon to its disk fails for no reason of its own. */
  diskTrouble = 0;
  readonly #hash = createHash('sha256');
  #lines = 0;

  /** Whether calls to the disk need no time. */
  readonly isInstant: boolean;

  constructor(seed: number, own: Partial<Pick<Machine, 'random' | 'ownRandom' | 'isInstant'>> = {}) {
    this.seed = seed;
    this.time = new Timeline();
    this.random = own.random ?? new Random(seed, 'machine');
    this.ownRandom = own.ownRandom ?? new Random(seed, 'daemon');
    this.isInstant = own.isInstant ?? false;
  }

  /** The process that runs, or the one whose code runs. */
  get process(): Process | null {
    return running.getStore() ?? this.#process;
  }

  log(what: string, detail = ''): void {
    const line = `${this.time.elapsed.toFixed(3)} ${what} ${detail}`;
    this.#lines += 1;
    this.#hash.update(line);
    this.onLine?.(line);
  }

  /** A state that at least one of many lives must reach. */
  reach(state: string): void {
    if (!this.reached.has(state)) this.log('reached', state);
    this.reached.add(state);
  }

  digest(): string {
    return `${this.#lines}:${this.#hash.copy().digest('hex')}`;
  }

  /** Starts a process that dies at its n-th moment. */
  boot(diesAt: number): Process {
    return (this.#process = new Process(this.time.elapsed, diesAt));
  }

  /** Starts one process of several; what it does has to `run` in it. */
  bootBeside(name: string, diesAt: number): Process {
    return new Process(this.time.elapsed, diesAt, name);
  }

  /** A call of the daemon that takes time: it may die before or after what the call does. */
  async call<T>(call: Call, apply: () => T): Promise<T> {
    const { process } = this;
    if (process === null || process.isDead) return never;
    await this.time.sleep(this.#duration(), process);
    const done = this.#carryOut(process, call, apply);
    return done === null ? never : done.value;
  }

  /** A call that blocks the daemon. @throws {KilledError} */
  callSync<T>(call: Call, apply: () => T): T {
    const { process } = this;
    if (process === null || process.isDead) throw new KilledError(call.name);
    const done = this.#carryOut(process, call, apply);
    if (done === null) throw new KilledError(call.name);
    return done.value;
  }

  /** Null when the process died of it. */
  #carryOut<T>(process: Process, { name, detail }: Call, apply: () => T): { readonly value: T } | null {
    if (process.isDead) return null;
    if (process.isLast()) {
      this.log('killed before', `${name} ${detail}`);
      return null;
    }
    let outcome = 'threw';
    try {
      const value = apply();
      outcome = '';
      if (!process.isLast()) return { value };
      this.log('killed after', `${name} ${detail}`);
      return null;
    } finally {
      this.log(name, `${detail} ${outcome}`);
    }
  }

  #duration(): number {
    if (this.isInstant) return 0;
    const ms = this.random.chance(0.02) ? this.random.between(5, 120) : this.random.between(0.01, 0.8);
    return ms * this.slowness;
  }
}

let current: Machine | null = null;

/** The computer on which everything now runs. */
export function machine(): Machine {
  if (current === null) throw new Error('no machine runs');
  return current;
}

export function runningMachine(): Machine | null {
  return current;
}

export function switchOn(next: Machine | null): void {
  current = next;
}
