import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface Waiting {
  /** Deadline on a quiet machine, in milliseconds. 60,000 unless a test must fail sooner. */
  readonly withinMs?: number;
  /** What to show of the world when the deadline passes, where the last value alone says too little. */
  readonly seen?: () => unknown;
}

/**
 * Waits until `look` returns something other than `false`, `null` or `undefined`, and returns that.
 *
 * The deadline stops a test that hangs; it asserts nothing. It grows with the load of the machine, up to four times.
 *
 * @param what the awaited condition, for the error: 'clip.mp4 is ready'
 * @param look may throw while the condition does not hold yet
 * @throws Error after the deadline: what was awaited, for how long, what was seen last. Its cause is what `look` threw last.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  { withinMs = 60_000, seen }: Waiting = {},
): Promise<Exclude<T, false | null | undefined>> {
  const start = performance.now();
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    const last = await attempt(look);
    if (isThere(last.value)) return last.value as Exclude<T, false | null | undefined>;
    if (performance.now() - start > withinMs * loadFactor()) throw inVain(what, performance.now() - start, last, seen);
    await sleep(pauseMs);
  }
}

/** Waits until the expectations hold: `eventually('both are listed', () => expect(list()).toHaveLength(2))`. As `until`. */
export async function eventually(
  what: string,
  expectations: () => void | Promise<void>,
  waiting: Waiting = {},
): Promise<void> {
  const holds = async (): Promise<true> => {
    await expectations();
    return true;
  };
  await until(what, holds, waiting);
}

interface Attempt<T> {
  readonly value?: T;
  readonly error?: Error;
}

async function attempt<T>(look: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await look() };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(inspect(error)) };
  }
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** How many times longer things take at present than on a quiet machine: 1 to 4. */
function loadFactor(): number {
  return Math.min(4, Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()));
}

function inVain(what: string, waitedMs: number, last: Attempt<unknown>, seen: Waiting['seen']): Error {
  const view = seen === undefined ? last.value : seen();
  const shown = typeof view === 'string' ? view : inspect(view, { depth: 5 });
  const thrown = last.error === undefined ? '' : `\n${last.error.message}`;
  return new Error(`Waited ${Math.round(waitedMs / 1000)} s for: ${what}\nLast seen: ${shown}${thrown}`, {
    cause: last.error,
  });
}
