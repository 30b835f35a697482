import { aborted } from '../../pipeline/wake-up.ts';

/** For the row of one file, or for the disk of its folder. */
const longestMs = 5_000;

/** For further files of a folder that was waited for in vain. */
const briefMs = 10;

/**
 * How long one command waits for rows that steps hold. The sender gives up after 30 s, however many files and folders
 * there are.
 */
export class Patience {
  readonly #inVain = new Set<string>();

  /**
   * @param work gets a signal that fires when the work took too long for a file of this folder, and ends soon
   *   afterwards
   */
  async during<T>(folder: string, work: (isOver: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const limitMs = this.#inVain.has(folder) ? briefMs : longestMs / (1 + this.#inVain.size);
    const timer = setTimeout(() => {
      this.#inVain.add(folder);
      over.abort();
    }, limitMs);
    try {
      return await work(over.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @returns null when the disk did not answer in time */
  async forDisk<T>(folder: string, calls: () => Promise<T>): Promise<T | null> {
    return this.during(folder, (isOver) => Promise.race([calls(), aborted(isOver).then(() => null)]));
  }
}

/** Why nothing was done. */
export const diskHangs = 'its folder does not answer: nothing was changed, repeat this once it does';
