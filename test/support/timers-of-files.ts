import { AsyncLocalStorage } from 'node:async_hooks';

/** Which file of tests work is of. The files of a worker share this module. */
const fileOfWork = new AsyncLocalStorage<string>();
let present = '';
/** Where timers were set, and how often, by work of a file that had ended. */
const strays = new Map<string, number>();

/** A timer that was set before the file ended does no harm. Work that goes on sets one after the other. */
const enoughToBeWork = 10;

/** From here on, work of another file is a stray. */
export function beginFile(path: string): void {
  present = path;
}

/** What `run` starts is work of the present file, as long as it goes on. */
export async function asWorkOfFile(run: () => Promise<void>): Promise<void> {
  await fileOfWork.run(present, run);
}

/** Work of earlier files that went on meanwhile: where it set its timers. It is forgotten with this. */
export function takeStrays(): readonly string[] {
  const found = [...strays].filter(([, times]) => times >= enoughToBeWork);
  strays.clear();
  return found.map(([place]) => place);
}

function noteStray(file: string | undefined, stack: string): void {
  if (file === undefined || file === present) return;
  const place = `${file}:\n${stack.split('\n').slice(2, 8).join('\n')}`;
  strays.set(place, (strays.get(place) ?? 0) + 1);
}

type SetTimer = (work: (...values: readonly unknown[]) => void, ms?: number, ...values: readonly unknown[]) => unknown;

function noted(set: SetTimer, { repeats }: { readonly repeats: boolean }): SetTimer {
  const setNoted: SetTimer = (work, ms, ...values) => {
    const file = fileOfWork.getStore();
    const { stack = '' } = new Error();
    noteStray(file, stack);
    const workNoted = (...given: readonly unknown[]): void => {
      if (repeats) noteStray(file, stack);
      work(...given);
    };
    return set(workNoted, ms, ...values);
  };
  return Object.defineProperties(setNoted, Object.getOwnPropertyDescriptors(set));
}

Object.assign(globalThis, {
  setTimeout: noted(setTimeout as unknown as SetTimer, { repeats: false }),
  setInterval: noted(setInterval as unknown as SetTimer, { repeats: true }),
});
