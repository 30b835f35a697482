import type { MonotonicClock } from './clock.ts';

/**
 * Runs many deadlines on one timer. Each key has one deadline; setting it again moves it. Due keys are delivered in
 * order and removed, so the receiver may set them again.
 */
export class Deadlines {
  readonly #clock: MonotonicClock;
  readonly #due: (key: string) => void;
  readonly #times = new Map<string, number>();
  /** Binary min-heap ordered by `at`. Moved and deleted deadlines remain as stale entries until they reach the top. */
  #heap: Deadline[] = [];
  #cancelTimer: (() => void) | null = null;
  #timerAt = Infinity;
  readonly #room: () => number;
  #isFull = false;
  #isClosed = false;

  /**
   * @param due must not throw
   * @param room how many more keys the receiver can accept now. When it has room again after having none, it must call
   *   `resume`. This keeps memory bounded: with a promise per key, 100,000 files coming due together would cost half a
   *   gigabyte.
   */
  constructor(clock: MonotonicClock, due: (key: string) => void, room: () => number = () => Infinity) {
    this.#clock = clock;
    this.#due = due;
    this.#room = room;
  }

  get size(): number {
    return this.#times.size;
  }

  set(key: string, at: number): void {
    if (this.#isClosed || this.#times.get(key) === at) return;
    this.#times.set(key, at);
    push(this.#heap, { key, at });
    if (this.#heap.length > 2 * this.#times.size + SLACK) this.#compact();
    this.#arm();
  }

  /** Like `set`, but never moves a deadline to a later time. */
  hasten(key: string, at: number): void {
    this.set(key, Math.min(at, this.#times.get(key) ?? Infinity));
  }

  has(key: string): boolean {
    return this.#times.has(key);
  }

  delete(key: string): void {
    this.#times.delete(key);
  }

  resume(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#fire();
  }

  /** Stops delivery permanently, even if work in progress sets another deadline. */
  close(): void {
    this.#isClosed = true;
    this.#times.clear();
    this.#heap = [];
    this.#arm();
  }

  #compact(): void {
    this.#heap = Array.from(this.#times, ([key, at]) => ({ key, at })).toSorted((a, b) => a.at - b.at);
  }

  #arm(): void {
    const next = this.#isFull ? Infinity : (this.#heap[0]?.at ?? Infinity);
    if (next === this.#timerAt) return;
    this.#cancelTimer?.();
    this.#timerAt = next;
    const delayMs = Math.min(Math.max(0, Math.ceil(next - this.#clock.elapsed())), LONGEST_TIMER_MS);
    this.#cancelTimer = next === Infinity ? null : this.#clock.after(delayMs, () => this.#fire());
  }

  #fire(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerAt = Infinity;
    const now = this.#clock.elapsed();
    const room = this.#room();
    const due: string[] = [];
    for (let top = this.#heap[0]; top !== undefined && top.at <= now; top = this.#heap[0]) {
      this.#isFull = due.length >= room;
      if (this.#isFull) break;
      pop(this.#heap);
      if (this.#times.get(top.key) !== top.at) continue;
      this.#times.delete(top.key);
      due.push(top.key);
    }
    this.#arm();
    for (const key of due) this.#due(key);
  }
}

interface Deadline {
  readonly key: string;
  readonly at: number;
}

const SLACK = 64;
/** Longest timer to set. `setTimeout` fires immediately for delays over 2^31 ms. */
const LONGEST_TIMER_MS = 3_600_000;

function push(heap: Deadline[], deadline: Deadline): void {
  let index = heap.length;
  heap.push(deadline);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || above.at <= deadline.at) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = deadline;
}

function pop(heap: Deadline[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const right = left + 1;
    const smaller = (heap[right]?.at ?? Infinity) < (heap[left]?.at ?? Infinity) ? right : left;
    const below = heap[smaller];
    if (below === undefined || below.at >= last.at) break;
    heap[index] = below;
    index = smaller;
  }
  heap[index] = last;
}
