import { AbortedError } from '../errors.ts';

/**
 * Waits for the work, but no longer than the signal lets it: the work itself goes on.
 * @throws {AbortedError} the signal
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(new AbortedError(what));
  work.then(resolve, reject);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', abort));
}
