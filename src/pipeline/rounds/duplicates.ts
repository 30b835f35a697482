import type { FileStore } from '../file/ports.ts';
import type { Runner } from '../steps/runner.ts';

export interface DuplicatesWorld {
  readonly store: Pick<FileStore, 'stranded'>;
  readonly runner: Pick<Runner, 'apply'>;
}

/** Gives files that were skipped as duplicates their turn, once the one that was uploaded instead of them is of no use any more. */
export interface Duplicates {
  /** This may be such a file. */
  fell(id: string): void;
  /** @returns how many files begin again */
  run(): Promise<number>;
}

export function createDuplicates({ store, runner }: DuplicatesWorld): Duplicates {
  const fallen = new Set<string>();
  // A file may have failed right before the last end of dropcast.
  let isStart = true;

  /** Those of one file, or of all. */
  const awaken = async (id: string | null): Promise<number> => {
    let awakened = 0;
    for (const { id: duplicate, lastFailure } of await store.stranded(id)) {
      const applied = await runner.apply(duplicate, { type: 'TWIN_FELL', twin: lastFailure?.twin ?? '' });
      if (applied === 'applied') awakened += 1;
    }
    return awakened;
  };

  return {
    fell: (id) => {
      fallen.add(id);
    },
    run: async () => {
      let awakened = isStart ? await awaken(null) : 0;
      isStart = false;
      for (const id of fallen) {
        awakened += await awaken(id);
        fallen.delete(id);
      }
      return awakened;
    },
  };
}
