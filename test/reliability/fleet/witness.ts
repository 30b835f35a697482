import { availableParallelism, loadavg } from 'node:os';

/** Looks whether this machine keeps up: where it does not, nobody can be expected to be in time. */
export interface Witness extends Disposable {
  /** When it did not keep up first, after a moment; Infinity: it did. */
  lateAfter(at: number): number;
}

const everyMs = 250;

/** A timer that is later than this, or so many processes for each processor, excuse what comes late. */
const most = { lateMs: 750, load: 4 };

export function watchMachine(): Witness {
  const late: number[] = [];
  let dueAt = performance.now() + everyMs;
  const timer = setInterval(() => {
    const isBusy = (loadavg()[0] ?? 0) > most.load * availableParallelism();
    if (isBusy || performance.now() - dueAt > most.lateMs) late.push(Date.now());
    dueAt = performance.now() + everyMs;
  }, everyMs);
  return {
    lateAfter: (at) => late.find((one) => one >= at) ?? Infinity,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
