import { DamagedRowError } from './row.ts';

/** The calls of a port of the ledger. */
type Port<T> = { readonly [name in keyof T]: (...args: never[]) => Promise<unknown> };

/**
 * A row may be damaged on disk while the ledger is open. The call that meets it puts it right and is made again, so that it costs one
 * file at most, and no restart.
 *
 * @param repair puts every damaged row right; several calls may meet the same one
 */
export function mending<T extends Port<T>>(port: T, repair: () => Promise<void>): T {
  let running: Promise<void> | null = null;
  const repairOnce = (): Promise<void> =>
    (running ??= repair().finally(() => {
      running = null;
    }));
  const mended = (call: Port<T>[keyof T]) => {
    return async (...args: never[]): Promise<unknown> => {
      try {
        return await call(...args);
      } catch (error) {
        if (!(error instanceof DamagedRowError)) throw error;
        await repairOnce();
        return call(...args);
      }
    };
  };
  const calls = Object.entries(port) as [string, Port<T>[keyof T]][];
  return Object.fromEntries(calls.map(([name, call]) => [name, mended(call)])) as unknown as T;
}
