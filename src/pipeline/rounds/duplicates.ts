import type { RowStore } from '../file/row-groups.ts';
import type { Runner } from '../steps/runner.ts';

export interface DuplicatesWorld {
  readonly store: RowStore<'stranded'>;
  readonly runner: Pick<Runner, 'apply'>;
}

/** Starts files that were skipped as duplicates, once the file uploaded instead of them has no usable video. */
export function createDuplicates({ store, runner }: DuplicatesWorld) {
  const fallen = new Set<string>();
  // A file may have failed just before dropcast last stopped.
  let isStart = true;

  /** The duplicates of one file, or all of them. */
  const awaken = async (id: string | null): Promise<number> => {
    let awakened = 0;
    for (const { id: duplicate, lastFailure } of await store.rows({ group: 'stranded', twin: id })) {
      const applied = await runner.apply(duplicate, { type: 'TWIN_FELL', twin: lastFailure?.twin ?? '' });
      if (applied === 'applied') awakened += 1;
    }
    return awakened;
  };

  return {
    /** A file that others may duplicate failed or was given up. */
    fell: (id: string): void => {
      fallen.add(id);
    },
    /** @returns how many files start again */
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
