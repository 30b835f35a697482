import { AbortedError } from '@dropcast/client';
import type { RequestPriority } from '../pipeline/file/ports.ts';

/** A request that waits at the gate. */
export interface Waiter {
  readonly priority: RequestPriority;
  /** Its number in the order of asking. */
  readonly number: number;
  isWaiting(): boolean;
  go(): void;
  refuse(reason: unknown): void;
}

export const priorities: readonly RequestPriority[] = ['finish', 'create', 'poll'];

/** The requests that wait at the gate, each in the lane of its priority. */
export class Waiters {
  readonly #lanes: Record<RequestPriority, Map<Waiter, number>> = {
    finish: new Map(),
    create: new Map(),
    poll: new Map(),
  };
  readonly #waited: Record<RequestPriority, number> = { finish: 0, create: 0, poll: 0 };
  readonly #elapsed: () => number;
  #asked = 0;

  /** @param elapsed by the clock that never jumps, in milliseconds */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  get size(): number {
    return priorities.reduce((sum, priority) => sum + this.#lanes[priority].size, 0);
  }

  /** Of one priority, in the order of asking. */
  in(priority: RequestPriority): Iterable<Waiter> {
    return this.#lanes[priority].keys();
  }

  /** Resolves when it may go. @throws {AbortedError} the signal fired */
  add(priority: RequestPriority, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const lane = this.#lanes[priority];
      const leave = () => {
        this.#waited[priority] += this.#elapsed() - (lane.get(waiter) ?? this.#elapsed());
        lane.delete(waiter);
        signal?.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        priority,
        number: (this.#asked += 1),
        isWaiting: () => lane.has(waiter),
        go: () => (leave(), resolve()),
        refuse: (reason) => (leave(), reject(reason)),
      };
      const abort = () => waiter.refuse(brokenOff(signal));
      signal?.addEventListener('abort', abort, { once: true });
      lane.set(waiter, this.#elapsed());
    });
  }

  refuseAll(reason: unknown): void {
    for (const priority of priorities) for (const waiter of this.in(priority)) waiter.refuse(reason);
  }

  /** How long each priority has waited, those that still do included, in milliseconds. */
  waitedMs(): Readonly<Record<RequestPriority, number>> {
    const waited = { ...this.#waited };
    for (const priority of priorities)
      for (const since of this.#lanes[priority].values()) waited[priority] += this.#elapsed() - since;
    return waited;
  }
}

/** @param signal what broke it off; undefined: the end of the gate */
export function brokenOff(signal?: AbortSignal): AbortedError {
  return new AbortedError('waiting for the request budget', signal);
}
