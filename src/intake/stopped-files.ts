import type { Facts } from '../pipeline/file/facts.ts';
import { isOfLocalFile } from '../pipeline/file/local-trouble.ts';
import type { FileEvent } from '../pipeline/file/machine.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import type { Runner } from '../pipeline/steps/runner.ts';

export interface StoppedFilesWorld {
  readonly store: Pick<IntakeStore, 'stoppedByDisk'>;
  readonly runner: Pick<Runner, 'apply'>;
  /** Whether the accepted file is at its place, unchanged, and can be opened. */
  readonly isReadable: (facts: Facts) => Promise<boolean>;
}

/**
 * A scan ended in a sound folder. Files that failed or wait because they were away or could not be read continue once they can be read. The
 * watcher offers no file again whose version stayed the same: one whose directory was closed, or that was away while dropcast was stopped.
 */
export type StoppedFiles = (folder: string) => Promise<void>;

export function createStoppedFiles({ store, runner, isReadable }: StoppedFilesWorld): StoppedFiles {
  return async (folder) => {
    for (const facts of await store.stoppedByDisk(folder)) {
      const event = onReturn(facts);
      if (event !== null && (await isReadable(facts))) await runner.apply(facts.id, event);
    }
  };
}

/** Pure: what lets a file continue now that it is at its place; null for one that the local disk has not stopped. */
export function onReturn({ end, notBefore, lastFailure }: Facts): FileEvent | null {
  if (lastFailure === null || !isOfLocalFile(lastFailure)) return null;
  if (end === 'failed') return { type: 'RETRY' };
  return end === null && notBefore !== null ? { type: 'GO' } : null;
}
