import { machine } from './machine.ts';

/** `node:timers/promises` of the machine. */
export const timers = {
  setTimeout: (ms = 1, value?: unknown, options?: { readonly signal?: AbortSignal }): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { time, process } = machine();
      const abort = (): void => {
        cancel();
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      const cancel = time.after(
        ms,
        () => {
          options?.signal?.removeEventListener('abort', abort);
          resolve(value);
        },
        process,
      );
      if (options?.signal?.aborted === true) abort();
      else options?.signal?.addEventListener('abort', abort, { once: true });
    }),
  setImmediate: (value?: unknown): Promise<unknown> =>
    new Promise((resolve) => {
      const { time, process } = machine();
      time.after(0, () => resolve(value), process);
    }),
};

/** Of `node:crypto` only what is drawn by lot. */
export const crypto = {
  randomBytes: (size: number): Buffer =>
    Buffer.from(Array.from({ length: size }, () => machine().ownRandom.below(256))),
};

/** Of `node:net` only the lock on a folder: one process runs at a time, so nobody else has the name. */
export const net = {
  createServer: () => ({
    once: () => undefined,
    listen: (_name: string, listens: () => void) => listens(),
    unref: () => undefined,
    close: (closed: () => void) => closed(),
  }),
};
