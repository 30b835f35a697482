import { AbortedError } from './errors.ts';

/**
 * Waits for the work, or until the signal fires; the work itself continues.
 * @throws {AbortedError} the signal fired
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(new AbortedError(what, signal));
  work.then(resolve, reject);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', abort));
}
