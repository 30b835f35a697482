import type * as promises from 'node:fs/promises';

type Fs = typeof promises;
type Call = (...given: never[]) => unknown;

/** What a test does between the system calls of the code: `node:fs/promises` goes through here once a test mocks it with `observed`. */
export const moments = {
  /** Called before each call, with its name and arguments. What it throws, the call throws. */
  before: (_name: string, _given: readonly unknown[]): void => undefined,
  /** Called after each call that succeeded. */
  after: (_name: string): void => undefined,
  /** Lets all calls pass again. */
  reset(): void {
    moments.before = () => undefined;
    moments.after = () => undefined;
  },
};

/** For `vi.mock('node:fs/promises', …)`. The test itself uses the synchronous functions of `node:fs`, which stay as they are. */
export function observed(real: Fs): Fs {
  const functions = Object.entries(real).filter(([, value]) => typeof value === 'function');
  return { ...real, ...Object.fromEntries(functions.map(([name, call]) => [name, observedCall(name, call as Call)])) };
}

function observedCall(name: string, call: Call): Call {
  return async (...given) => {
    moments.before(name, given);
    const result = await call(...given);
    try {
      moments.after(name);
      return result;
    } catch (error) {
      // Nobody gets to close what was opened.
      if (name === 'open') await (result as promises.FileHandle).close();
      throw error;
    }
  };
}

/** A failed system call, as Node throws it. */
export function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });
}

/**
 * Runs something once for each moment between its system calls: `meddle` happens before the n-th, for every n.
 *
 * @returns how many moments there were
 */
export async function atEachMoment(
  run: (
    meddleAt: (meddle: () => void, alsoFail?: (name: string, given: readonly unknown[]) => void) => void,
  ) => Promise<void>,
): Promise<number> {
  for (let moment = 1; ; moment += 1) {
    let calls = 0;
    await run((meddle, alsoFail) => {
      moments.before = (name, given) => {
        calls += 1;
        if (calls === moment) meddle();
        alsoFail?.(name, given);
      };
    }).finally(moments.reset);
    if (calls < moment) return moment - 1;
  }
}

/** Thrown by every call of a process that was killed. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * Runs something once for each of its system calls, and kills it before and after it: from then on every call fails, so that nothing
 * is cleaned up. Then the disk is as after `kill -9`.
 *
 * @returns how many kills there were
 */
export async function killedAtEachCall(
  run: (
    begin: (alsoFail?: (name: string, given: readonly unknown[]) => void) => void,
    restart: () => void,
  ) => Promise<void>,
): Promise<number> {
  let kills = 0;
  for (const side of ['before', 'after'] as const) {
    for (let nth = 1; ; nth += 1) {
      let calls = 0;
      let isDead = false;
      let wasKilled = false;
      let isRestarted = false;
      const die = (): never => {
        isDead = true;
        wasKilled = true;
        throw new Killed(`${side} call ${nth}`);
      };
      await run(
        (alsoFail) => {
          moments.before = (name, given) => {
            if (isDead) die();
            calls += 1;
            if (side === 'before' && !isRestarted && calls === nth) die();
            alsoFail?.(name, given);
          };
          moments.after = () => {
            if (isDead || (side === 'after' && !isRestarted && calls === nth)) die();
          };
        },
        () => {
          isDead = false;
          isRestarted = true;
          moments.reset();
        },
      ).finally(moments.reset);
      if (!wasKilled) break;
      kills += 1;
    }
  }
  return kills;
}
