import PQueue from 'p-queue';
import type { Facts } from '../file/facts.ts';
import type { Clock, FileStore } from '../file/ports.ts';
import type { Runner } from './runner.ts';

/** Create requests at the same time: they are short, and the service's budget is the limit, not they. */
const createConcurrency = 2;

export interface Lanes {
  /** Fills free slots from the ledger; never holds more than twice the concurrency in memory. */
  pump(): Promise<void>;
  /** Takes nothing more. */
  close(): void;
  /** Resolves when what is running has ended. */
  drained(): Promise<void>;
  size(): number;
  setConcurrency(uploads: number): void;
}

/**
 * Two lanes of p-queue, apart so that a create that waits for the budget holds no upload slot. The order is the ledger's;
 * the queues hold only what will run next, so a restart loses nothing.
 */
export function createLanes(options: {
  readonly store: FileStore;
  readonly runner: Runner;
  readonly clock: Clock;
  readonly uploads: number;
  /** Whether further records may be created at present. */
  readonly mayCreate: () => Promise<boolean>;
  /** Whether a file may be sent now: its upload host may be away. */
  readonly mayUpload: (facts: Facts) => boolean;
  /** A task ended. `wasOurs`: there may be more to do at once; false when another worker has the file. */
  readonly onEnd: (id: string, wasOurs: boolean) => void;
}): Lanes {
  const { store, runner, clock, mayCreate, mayUpload, onEnd } = options;
  const create = new PQueue({ concurrency: createConcurrency });
  const upload = new PQueue({ concurrency: options.uploads });
  const inLane = new Set<string>();
  let isClosed = false;

  const fill = async (lane: PQueue, state: 'queued' | 'awaiting upload', most: number): Promise<void> => {
    const free = Math.min(most, 2 * lane.concurrency - lane.size - lane.pending);
    if (free <= 0) return;
    const mayRun = (facts: Facts): boolean => !inLane.has(facts.id) && (lane === create || mayUpload(facts));
    let left = free;
    // Behind files that wait for an upload host there may be others.
    for (let limit = free + inLane.size, isAll = false; left > 0 && !isAll; limit *= 4) {
      const rows = await store.due(state, clock.now(), limit);
      isAll = rows.length < limit;
      for (const facts of rows) {
        if (isClosed || left === 0) return;
        if (!mayRun(facts)) continue;
        left -= 1;
        start(lane, facts);
      }
    }
  };

  const start = (lane: PQueue, facts: Facts): void => {
    const { id } = facts;
    inLane.add(id);
    void lane
      // Asked again: its upload host may have gone away while it waited for a slot.
      .add(() => (lane === create || mayUpload(facts) ? runner.run(id) : true))
      .catch(() => false) // `run` never rejects; a cleared queue does
      .then((wasOurs) => {
        inLane.delete(id);
        onEnd(id, wasOurs);
      });
  };

  return {
    pump: async () => {
      if (isClosed) return;
      await fill(upload, 'awaiting upload', Infinity);
      if (!(await mayCreate())) return;
      // Upload addresses expire, and a record without bytes is litter: create runs only a little ahead.
      const ahead = (await store.count('awaiting upload')) + create.size + create.pending;
      await fill(create, 'queued', 2 * upload.concurrency - ahead);
    },
    close: () => {
      isClosed = true;
      create.clear();
      upload.clear();
    },
    drained: async () => {
      await Promise.all([create.onIdle(), upload.onIdle()]);
    },
    size: () => create.size + create.pending + upload.size + upload.pending,
    setConcurrency: (uploads) => {
      upload.concurrency = uploads;
    },
  };
}
