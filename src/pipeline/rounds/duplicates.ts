import type { RowStore } from '../file/row-groups.ts';
import type { Runner } from '../steps/runner.ts';

export interface DuplicatesWorld {
  readonly store: RowStore<'stranded'>;
  readonly runner: Pick<Runner, 'apply'>;
}

/**
 * Restarts files that were skipped as duplicates, once the file uploaded in their place no longer has a usable video.
 */
export function createDuplicates({ store, runner }: DuplicatesWorld) {
  const fallen = new Set<string>();
  // The first run checks all duplicates, because a file may have failed just before dropcast last stopped.
  let isStart = true;

  const awaken = async (id: string | null): Promise<number> => {
    let awakened = 0;
    for (const { id: duplicate, lastFailure } of await store.rows({ group: 'stranded', twin: id })) {
      const applied = await runner.apply(duplicate, { type: 'TWIN_FELL', twin: lastFailure?.twin ?? '' });
      if (applied === 'applied') awakened += 1;
    }
    return awakened;
  };

  return {
    /** Records that a file that others may duplicate has failed or been given up. */
    fell: (id: string): void => {
      fallen.add(id);
    },
    /** @returns how many files were restarted */
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
