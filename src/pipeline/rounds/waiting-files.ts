import type { RetryPolicy } from '../file/backoff.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock } from '../file/ports.ts';
import { createBackoffs } from './backoffs.ts';
import type { Backoffs } from './backoffs.ts';

/** Files that could not be put away and are tried again: when, and what each waits for. In memory: a restart tries at once. */
export class WaitingFiles {
  readonly #backoffs: Backoffs;
  /** Id → cause: what one file meets, all in its folder meet. */
  readonly #causes = new Map<string, string>();

  /** @param retry paces the tries; their number has no limit, because a disk that refuses today may not tomorrow */
  constructor(clock: Clock, retry: () => RetryPolicy) {
    this.#backoffs = createBackoffs(clock, () => ({ ...retry(), attempts: Infinity }));
  }

  /** Ids of files whose next try is due. */
  due(limit: number): readonly string[] {
    return [...this.#causes.keys()].filter((id) => !this.#backoffs.isBackingOff(id)).slice(0, limit);
  }

  /** A file that a former run left waiting. */
  remember({ id, folder, lastFailure }: Facts): void {
    this.#causes.set(id, causeOf(folder, lastFailure));
  }

  /** @returns null if trying again cannot help; else whether no other file waits for the same cause yet */
  wait({ id, folder }: Facts, failure: Failure): 'first' | 'further' | null {
    if (!this.#backoffs.retryAfter(id, failure)) return null;
    const cause = causeOf(folder, failure);
    const isFirst = ![...this.#causes.values()].includes(cause);
    this.#causes.set(id, cause);
    return isFirst ? 'first' : 'further';
  }

  /** Its next try is due at once. */
  hurry(id: string): void {
    this.#backoffs.forget(id);
  }

  /** It waits no more. @param isBetter what it waited for is over, so that the others that wait for the same are due */
  end(id: string, isBetter: boolean): void {
    const cause = this.#causes.get(id);
    this.#causes.delete(id);
    this.#backoffs.forget(id);
    if (!isBetter || cause === undefined) return;
    for (const [other, its] of this.#causes) if (its === cause) this.#backoffs.forget(other);
  }
}

function causeOf(folder: string, failure: Failure | null): string {
  return `${folder}\0${failure?.code ?? ''}`;
}
