import { aborted } from '../../pipeline/wake-up.ts';

/** Longest wait in milliseconds for a file's row or a folder's disk. */
const longestMs = 5_000;

/** Wait in milliseconds for further files of a folder that has already timed out. */
const briefMs = 10;

/**
 * Limits how long one command waits for rows held by steps. The client gives up after 30 s, regardless of how many
 * files and folders are involved.
 */
export class Patience {
  readonly #inVain = new Set<string>();

  /** @param work receives a signal that fires on timeout, and must then finish promptly */
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

  /** @returns null when the disk did not respond in time */
  async forDisk<T>(folder: string, calls: () => Promise<T>): Promise<T | null> {
    return this.during(folder, (isOver) => Promise.race([calls(), aborted(isOver).then(() => null)]));
  }
}

/** Why nothing was changed. */
export const diskHangs = 'its folder does not answer: nothing was changed, repeat this once it does';
