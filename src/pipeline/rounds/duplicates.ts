import type { RowStore } from '../file/row-groups.ts';
import type { Runner } from '../steps/runner.ts';

export interface DuplicatesWorld {
  readonly store: RowStore<'stranded'>;
  readonly runner: Pick<Runner, 'apply'>;
}

/** Gives files that were skipped as duplicates their turn, once the one that was uploaded instead of them is of no use any more. */
export function createDuplicates({ store, runner }: DuplicatesWorld) {
  const fallen = new Set<string>();
  // A file may have failed right before the last end of dropcast.
  let isStart = true;

  /** Those of one file, or of all. */
  const awaken = async (id: string | null): Promise<number> => {
    let awakened = 0;
    for (const { id: duplicate, lastFailure } of await store.rows({ group: 'stranded', twin: id })) {
      const applied = await runner.apply(duplicate, { type: 'TWIN_FELL', twin: lastFailure?.twin ?? '' });
      if (applied === 'applied') awakened += 1;
    }
    return awakened;
  };

  return {
    /** A file that others may have been skipped for failed, or was given up. */
    fell: (id: string): void => {
      fallen.add(id);
    },
    /** @returns how many files begin again */
    run: async (): Promise<number> => {
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
