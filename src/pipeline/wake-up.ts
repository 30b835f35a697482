/** A sleep that can be cut short. A ring while awake makes the next sleep short. */
export interface WakeUp {
  ring(): void;
  /** Resolves when rung, or after so many milliseconds. */
  wait(ms: number): Promise<void>;
}

export function createWakeUp(): WakeUp {
  let isRung = false;
  let wake: (() => void) | null = null;
  return {
    ring: () => {
      isRung = true;
      wake?.();
    },
    wait: async (ms) => {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, ms);
        await promise;
        clearTimeout(timer);
        wake = null;
      }
      isRung = false;
      // p-queue and a synchronous ledger go on in microtasks: let timers and sockets have their turn.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
