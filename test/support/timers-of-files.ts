/** Which file of tests a timer is of. The files of a worker share this module. */
let present = '';
const strays = new Set<string>();

/** From here on, timers are of this file. */
export function beginFile(path: string): void {
  present = path;
}

/** Timers of earlier files that fired meanwhile: where each was set. They are forgotten with this. */
export function takeStrays(): readonly string[] {
  const found = [...strays];
  strays.clear();
  return found;
}

type SetTimer = (work: (...values: readonly unknown[]) => void, ms?: number, ...values: readonly unknown[]) => unknown;

function noted(set: SetTimer): SetTimer {
  const setNoted: SetTimer = (work, ms, ...values) => {
    const file = present;
    const { stack = '' } = new Error();
    const workNoted = (...given: readonly unknown[]): void => {
      if (file !== present) strays.add(`${file}:\n${stack.split('\n').slice(2, 8).join('\n')}`);
      work(...given);
    };
    return set(workNoted, ms, ...values);
  };
  return Object.defineProperties(setNoted, Object.getOwnPropertyDescriptors(set));
}

Object.assign(globalThis, {
  setTimeout: noted(setTimeout as unknown as SetTimer),
  setInterval: noted(setInterval as unknown as SetTimer),
});
