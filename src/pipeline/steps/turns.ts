import type { Priority } from '../../routing/plan.ts';
import { priorities } from '../file/queue.ts';
import type { Queued } from '../file/queue.ts';

export type Turn = Pick<Queued, 'folder' | 'priority' | 'isBig' | 'urgency'>;

/**
 * A file of this priority gets its turn after this many consecutive starts of more urgent files, so that it does not
 * wait forever.
 */
const passedOver: Readonly<Record<Priority, number>> = { high: 0, normal: 4, low: 16 };

/** After this many consecutive starts of urgent files, one of the others gets its turn. */
const urgentInARow = 16;

/** After this many consecutive small files of a folder, one of its big files gets its turn. */
const smallInARow = 4;

/**
 * Chooses the next file: an urgent one, by urgency; otherwise by priority, then folder by folder in turn, then small files before big ones, then the oldest.
 * A file that was passed over gets its turn after a fixed number of starts, so every wait is bounded.
 */
export class Turns {
  #turn = 0;
  #urgent = 0;
  /** For each priority: the last start of a file with that priority or a lower one. */
  readonly #lastOf = new Map<Priority, number>();
  /** For each queue: its last start, and the number of small files since its last big one. */
  readonly #queues = new Map<string, { at: number; small: number }>();

  /** @param before the last started files, newest first, from which the turns continue after a restart */
  constructor(before: readonly Turn[] = []) {
    for (const file of before.toReversed()) this.started(file);
  }

  /** Returns the file whose turn it is. @param waiting files that may start now, the oldest of each folder first */
  next<T extends Turn>(waiting: readonly T[]): T | null {
    const others = waiting.filter(({ urgency }) => urgency === null);
    const isTheirTurn = others.length > 0 && this.#urgent >= urgentInARow;
    return (isTheirTurn ? null : mostUrgent(waiting)) ?? this.#inTurn(others);
  }

  #inTurn<T extends Turn>(waiting: readonly T[]): T | null {
    const priority = this.#priority(waiting);
    const [first, ...others] = waiting.filter((file) => file.priority === priority);
    if (first === undefined) return null;
    const { folder } = others.reduce((one, other) => (this.#at(other) < this.#at(one) ? other : one), first);
    const ofFolder = [first, ...others].filter((file) => file.folder === folder);
    const isBigDue = (this.#queues.get(queueOf(ofFolder[0] ?? first))?.small ?? 0) >= smallInARow;
    return ofFolder.find(({ isBig }) => isBig === isBigDue) ?? ofFolder[0] ?? null;
  }

  started(file: Turn): void {
    // Urgent files take no turn of the others, whose shares therefore stay the same.
    this.#urgent = file.urgency === null ? 0 : this.#urgent + 1;
    if (file.urgency !== null) return;
    this.#turn += 1;
    for (const priority of priorities.slice(0, priorities.indexOf(file.priority) + 1))
      this.#lastOf.set(priority, this.#turn);
    const small = file.isBig ? 0 : (this.#queues.get(queueOf(file))?.small ?? 0) + 1;
    this.#queues.set(queueOf(file), { at: this.#turn, small });
  }

  /** Returns the lowest priority that has been passed over often enough, otherwise the highest. */
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

function mostUrgent<T extends Turn>(waiting: readonly T[]): T | null {
  const [first, ...others] = waiting.filter(({ urgency }) => urgency !== null);
  const isMore = (one: T, other: T): boolean => (other.urgency ?? 0) < (one.urgency ?? 0);
  return first === undefined ? null : others.reduce((one, other) => (isMore(one, other) ? other : one), first);
}

function queueOf({ priority, folder }: Turn): string {
  return `${priority} ${folder}`;
}
