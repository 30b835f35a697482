import type { Logger } from '../log/logger.ts';
import { createWakeUp } from '../pipeline/wake-up.ts';
import type { CompleteFile } from '../watch/ports.ts';

/**
 * Files of one folder that must be read to find out whether their content changed. After a `chmod -R`, that is all of
 * them. They wait here so that the watcher can keep offering new files, and the process reads one at a time. The list
 * is not durable: until a file has been compared, its row has the old version, and the next start offers the file
 * again. Owns the comparison in progress.
 *
 * @param compare reads one file and decides what to do with it. Returns false if that is not possible now
 */
export function createComparisons({
  logger,
  compare,
}: {
  readonly logger: Logger;
  readonly compare: (file: CompleteFile, signal: AbortSignal) => Promise<boolean>;
}) {
  const stop = new AbortController();
  const { signal } = stop;
  /** Files by path, in order of arrival. */
  const files = new Map<string, CompleteFile>();
  const wakeUp = createWakeUp();
  let running: Promise<void> | null = null;

  const run = async (): Promise<void> => {
    let retryMs = firstRetryMs;
    while (files.size > 0 && !signal.aborted) {
      if ((await round()) > 0) {
        retryMs = firstRetryMs;
        continue;
      }
      // A step is holding the row, or the disk is not answering.
      await wakeUp.wait(retryMs);
      retryMs = Math.min(2 * retryMs, longestRetryMs);
    }
    running = null;
  };

  /** Compares each file once. @returns how many files were decided */
  const round = async (): Promise<number> => {
    let decided = 0;
    for (const file of files.values()) {
      if (signal.aborted) return decided;
      if (!(await inTurn(() => tryOne(file)))) continue;
      decided += 1;
      // Another version may have arrived in the meantime.
      if (files.get(file.path) === file) files.delete(file.path);
    }
    return decided;
  };

  const tryOne = async (file: CompleteFile): Promise<boolean> => {
    try {
      return !signal.aborted && (await compare(file, signal));
    } catch (err) {
      const { folder, path } = file;
      logger.warn('Cannot compare a file with what was sent', { folder, path, err });
      return false;
    }
  };

  return {
    add: (file: CompleteFile): void => {
      if (signal.aborted) return;
      files.set(file.path, file);
      wakeUp.ring();
      running ??= run();
    },
    files: (): readonly CompleteFile[] => [...files.values()],
    /** Aborts the comparison in progress and waits for it to end. */
    [Symbol.asyncDispose]: async (): Promise<void> => {
      stop.abort();
      wakeUp.ring();
      await running;
      files.clear();
    },
  };
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** End of the process-wide queue of comparisons. */
let last: Promise<unknown> = Promise.resolve();

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}
