import type { RetryPolicy } from '../file/backoff.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock } from '../file/ports.ts';
import type { ReasonCode } from '../file/reasons.ts';
import { folderAway } from '../pause.ts';
import { createBackoffs } from './backoffs.ts';
import type { Backoffs } from './backoffs.ts';

/**
 * Files that could not be put away and are tried again: when, and for what each waits. Kept in memory, so a restart
 * tries at once.
 */
export class WaitingFiles {
  readonly #backoffs: Backoffs;
  /** Id → cause. A cause applies to all files of its folder. */
  readonly #causes = new Map<string, string>();
  /** By cause, so that none of 100,000 files is compared with all others. */
  readonly #groups = new Map<string, Group>();

  /** @param retry paces the tries; their number has no limit, because a disk that refuses today may work tomorrow */
  constructor(clock: Clock, retry: () => RetryPolicy, ringAt?: (at: number) => void) {
    this.#backoffs = createBackoffs(clock, () => ({ ...retry(), attempts: Infinity }), ringAt);
  }

  /** Ids of files whose next try is due. */
  due(limit: number): readonly string[] {
    return this.#causes
      .keys()
      .filter((id) => !this.#backoffs.isBackingOff(id))
      .take(limit)
      .toArray();
  }

  /** Adds a file that waited before a restart. */
  remember({ id, folder, lastFailure }: Facts): void {
    this.#add(id, causeOf(folder, lastFailure));
  }

  /** @returns null if trying again cannot help; otherwise whether this is the first file that waits for this cause */
  wait({ id, folder }: Facts, failure: Failure): 'first' | 'further' | null {
    if (!this.#backoffs.retryAfter(id, failure)) return null;
    const cause = causeOf(folder, failure);
    const isFirst = !this.#groups.has(cause);
    this.#add(id, cause).tried.add(id);
    return isFirst ? 'first' : 'further';
  }

  /** Makes its next try due at once. */
  hurry(id: string): void {
    this.#backoffs.forget(id);
  }

  /**
   * A scan of the folder succeeded: one file of each cause that a change of the disk or of rights ends is due at once.
   * If it succeeds, the others with the same cause become due too.
   *
   * @returns whether there is such a file
   */
  folderSeen(folder: string): boolean {
    let isOneDue = false;
    for (const code of endedByDisk) {
      const [id] = this.#groups.get(keyOf(folder, code))?.tried ?? [];
      if (id === undefined || !this.#backoffs.isBackingOff(id)) continue;
      this.#backoffs.forget(id);
      isOneDue = true;
    }
    return isOneDue;
  }

  /** The file waits no longer. @param isBetter its cause is gone, so the others with that cause are due */
  end(id: string, isBetter: boolean): void {
    const group = this.#drop(id);
    this.#backoffs.forget(id);
    if (!isBetter || group === null) return;
    for (const other of group.tried) this.#backoffs.forget(other);
    group.tried.clear();
  }

  #add(id: string, cause: string): Group {
    const group = this.#groups.get(cause) ?? { files: 0, tried: new Set() };
    if (this.#causes.get(id) === cause) return group;
    this.#drop(id);
    this.#causes.set(id, cause);
    this.#groups.set(cause, group);
    group.files += 1;
    return group;
  }

  #drop(id: string): Group | null {
    const cause = this.#causes.get(id) ?? '';
    const group = this.#groups.get(cause);
    if (group === undefined) return null;
    this.#causes.delete(id);
    group.tried.delete(id);
    group.files -= 1;
    if (group.files === 0) this.#groups.delete(cause);
    return group;
  }
}

/** Files that wait for the same cause. */
interface Group {
  files: number;
  /** Those of them that back off. */
  readonly tried: Set<string>;
}

function causeOf(folder: string, failure: Failure | null): string {
  return keyOf(folder, failure?.code ?? '');
}

function keyOf(folder: string, code: string): string {
  return `${folder}\0${code}`;
}

/** Trying such a file again reads none of its bytes before the cause is over. */
const endedByDisk: readonly string[] = [folderAway, 'EACCES', 'EPERM', 'EROFS', 'unreadable' satisfies ReasonCode];
