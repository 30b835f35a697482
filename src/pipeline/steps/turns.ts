import type { Priority } from '../../routing/plan.ts';
import { priorities } from '../file/queue.ts';
import type { Queued } from '../file/queue.ts';

/** What decides whose turn it is. */
export type Turn = Pick<Queued, 'folder' | 'priority' | 'isBig'>;

/** After this many more urgent starts in a row, a file of this priority has its turn: the others go first, but not for ever. */
const passedOver: Readonly<Record<Priority, number>> = { high: 0, normal: 4, low: 16 };

/** After this many small files of a folder, a big one has its turn. */
const smallInARow = 4;

/**
 * Whose turn it is: by priority, then the folders one after the other, then small files before big ones, then the oldest. A file that is
 * passed over has its turn after a fixed number of starts, so every file starts after a bounded number of them.
 */
export class Turns {
  #turn = 0;
  /** When one of this priority, or of a lower one, started last. */
  readonly #lastOf = new Map<Priority, number>();
  /** By queue: when one of it started last, and how many small ones since the last big one. */
  readonly #queues = new Map<string, { at: number; small: number }>();

  /** @param before the last files that were started, newest first: after a restart the turns continue where they were */
  constructor(before: readonly Turn[] = []) {
    for (const file of before.toReversed()) this.started(file);
  }

  /** @param waiting those that may start now, of each folder the oldest first */
  next<T extends Turn>(waiting: readonly T[]): T | null {
    const priority = this.#priority(waiting);
    const [first, ...others] = waiting.filter((file) => file.priority === priority);
    if (first === undefined) return null;
    const { folder } = others.reduce((one, other) => (this.#at(other) < this.#at(one) ? other : one), first);
    const ofFolder = [first, ...others].filter((file) => file.folder === folder);
    const isBigDue = (this.#queues.get(queueOf(ofFolder[0] ?? first))?.small ?? 0) >= smallInARow;
    return ofFolder.find(({ isBig }) => isBig === isBigDue) ?? ofFolder[0] ?? null;
  }

  started(file: Turn): void {
    this.#turn += 1;
    for (const priority of priorities.slice(0, priorities.indexOf(file.priority) + 1))
      this.#lastOf.set(priority, this.#turn);
    const small = file.isBig ? 0 : (this.#queues.get(queueOf(file))?.small ?? 0) + 1;
    this.#queues.set(queueOf(file), { at: this.#turn, small });
  }

  /** The lowest one that was passed over often enough, else the highest. */
  #priority(waiting: readonly Turn[]): Priority | undefined {
    const present = priorities.filter((priority) => waiting.some((file) => file.priority === priority));
    const isDue = (priority: Priority): boolean =>
      this.#turn - (this.#lastOf.get(priority) ?? 0) >= passedOver[priority];
    return present.slice(1).findLast(isDue) ?? present[0];
  }

  #at(file: Turn): number {
    return this.#queues.get(queueOf(file))?.at ?? 0;
  }
}

function queueOf({ priority, folder }: Turn): string {
  return `${priority} ${folder}`;
}
