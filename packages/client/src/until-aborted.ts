import { AbortedError } from './errors.ts';

/**
 * Waits until the work finishes or the signal fires. The work itself is not cancelled.
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
