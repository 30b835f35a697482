/** Kept before anything replaces it. */
const realImmediate = setImmediate;

/** The process that something is due to. */
interface Owner {
  readonly isDead: boolean;
  /** Nothing that is due to it happens before this moment. */
  readonly frozenUntil: number;
  run(work: () => void): void;
}

interface Moment {
  at: number;
  readonly order: number;
  readonly owner: Owner | null;
  run(): void;
  isCancelled: boolean;
}

/** Where wall clocks begin: 2026-03-01T12:00:00Z. */
export const beginsAt = Date.UTC(2026, 2, 1, 12);

/** Virtual time: it stands still while anything can run, and then jumps to the next moment at which something is due. */
export class Timeline {
  /** Milliseconds since the beginning; nobody can set it. */
  elapsed = 0;
  /** How far the wall clock was set from the truth, in milliseconds. */
  wallOffset = 0;
  readonly #heap: Moment[] = [];
  #order = 0;

  /** Epoch milliseconds, as the wall clock of the machine shows them. */
  get wall(): number {
    return this.trueWall + this.wallOffset;
  }

  /** Epoch milliseconds, as a clock shows them that nobody sets. */
  get trueWall(): number {
    return beginsAt + Math.floor(this.elapsed);
  }

  /** @param owner nothing comes of it when this process is dead by then */
  after(ms: number, run: () => void, owner: Owner | null): () => void {
    const at = this.elapsed + Math.max(0, ms);
    const moment: Moment = { at, order: (this.#order += 1), owner, run, isCancelled: false };
    push(this.#heap, moment);
    return () => {
      moment.isCancelled = true;
    };
  }

  sleep(ms: number, owner: Owner | null = null): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve, owner));
  }

  /**
   * Lets time pass, until it is enough or nothing will ever happen again.
   *
   * @param quiet resolves when everything that can has moved on
   */
  async runUntil(isEnough: () => boolean, quiet = idle): Promise<void> {
    for (await quiet(); !isEnough(); await quiet()) if (!this.#step()) return;
  }

  /** Goes to the next moment. */
  #step(): boolean {
    for (let next = pop(this.#heap); next !== undefined; next = pop(this.#heap)) {
      const { owner } = next;
      if (next.isCancelled || owner?.isDead === true) continue;
      if (owner !== null && owner.frozenUntil > next.at) {
        next.at = owner.frozenUntil;
        push(this.#heap, next);
        continue;
      }
      this.elapsed = Math.max(this.elapsed, next.at);
      if (owner === null) next.run();
      else owner.run(next.run);
      return true;
    }
    return false;
  }
}

/** What real programs beside the machine are asked and have not answered. */
const outside = { count: 0 };
let answered = Promise.withResolvers<void>();

/** Time stands still until a real program beside the machine has answered. */
export async function standStill<T>(work: Promise<T>): Promise<T> {
  outside.count += 1;
  try {
    return await work;
  } finally {
    outside.count -= 1;
    answered.resolve();
    answered = Promise.withResolvers();
  }
}

/** Resolves when every promise that can has moved on. */
export async function idle(): Promise<void> {
  await new Promise((resolve) => realImmediate(resolve));
  while (outside.count > 0) {
    await answered.promise;
    await new Promise((resolve) => realImmediate(resolve));
  }
}

function isBefore(one: Moment, other: Moment): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

function push(heap: Moment[], moment: Moment): void {
  let index = heap.length;
  heap.push(moment);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(moment, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = moment;
}

function pop(heap: Moment[]): Moment | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    const left = heap[2 * index + 1];
    const right = heap[2 * index + 2];
    const below = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
    if (below === undefined || !isBefore(below, last)) break;
    heap[index] = below;
    index = 2 * index + (below === left ? 1 : 2);
  }
  heap[index] = last;
  return first;
}
