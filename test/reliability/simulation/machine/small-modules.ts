import { EventEmitter } from 'node:events';
import { machine } from './machine.ts';
import type { Process } from './machine.ts';

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

/** Of `node:os` only how long the machine has been up. */
export const os = {
  uptime: (): number => (machine().time.elapsed - machine().bootedAt) / 1_000,
};

/** Of `node:net` only the names that a process takes, which the kernel gives back when it dies. */
export const net = {
  createServer: () => new NameServer(),
};

const taken = new Map<string, Process | null>();

class NameServer extends EventEmitter {
  #name = '';

  listen(name: string, onListening?: () => void): this {
    const { process, time } = machine();
    const isTaken = taken.get(name)?.isDead === false;
    const refusal = Object.assign(new Error('in use'), { code: 'EADDRINUSE' });
    if (!isTaken) taken.set((this.#name = name), process);
    time.after(0, () => (isTaken ? this.emit('error', refusal) : onListening?.()), process);
    return this;
  }

  close(onClose?: () => void): this {
    taken.delete(this.#name);
    machine().time.after(0, () => onClose?.(), machine().process);
    return this;
  }

  unref(): this {
    return this;
  }
}

/** A new machine has no names that are taken. */
export function freeNames(): void {
  taken.clear();
}
