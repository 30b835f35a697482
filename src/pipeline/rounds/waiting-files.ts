import type { RetryPolicy } from '../file/backoff.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock } from '../file/ports.ts';
import type { ReasonCode } from '../file/reasons.ts';
import { folderAway } from '../pause.ts';
import { createBackoffs } from './backoffs.ts';

/**
 * Keeps the files that could not be put away and will be tried again, with the time and cause of each wait. Kept in
 * memory, so everything is retried immediately after a restart.
 *
 * @param retry sets the pace of the tries; their number is unlimited, because a disk that refuses today may work
 *   tomorrow
 */
export function createWaitingFiles(clock: Clock, retry: () => RetryPolicy, ringAt?: (at: number) => void) {
  const backoffs = createBackoffs(clock, () => ({ ...retry(), attempts: Infinity }), ringAt);
  /** Id → cause. A cause applies to all files of its folder. */
  const causes = new Map<string, string>();
  /** Groups by cause, so that with 100,000 files none has to be compared with all the others. */
  const groups = new Map<string, Group>();

  const add = (id: string, cause: string): Group => {
    const group = groups.get(cause) ?? { files: 0, tried: new Set() };
    if (causes.get(id) === cause) return group;
    drop(id);
    causes.set(id, cause);
    groups.set(cause, group);
    group.files += 1;
    return group;
  };

  const drop = (id: string): Group | null => {
    const cause = causes.get(id) ?? '';
    const group = groups.get(cause);
    if (group === undefined) return null;
    causes.delete(id);
    group.tried.delete(id);
    group.files -= 1;
    if (group.files === 0) groups.delete(cause);
    return group;
  };

  return {
    due: (limit: number): readonly string[] =>
      causes
        .keys()
        .filter((id) => !backoffs.isBackingOff(id))
        .take(limit)
        .toArray(),
    remember: ({ id, folder, lastFailure }: Facts): void => {
      add(id, causeOf(folder, lastFailure?.code));
    },
    /** @returns null if a retry cannot help; otherwise whether this is the first file with this cause */
    wait: ({ id, folder }: Facts, failure: Failure): 'first' | 'further' | null => {
      if (!backoffs.retryAfter(id, failure)) return null;
      const cause = causeOf(folder, failure.code);
      const isFirst = !groups.has(cause);
      add(id, cause).tried.add(id);
      return isFirst ? 'first' : 'further';
    },
    /** Makes the file's next try due immediately. */
    hurry: backoffs.forget,
    /**
     * Records a successful scan of the folder. For each cause that a change to the disk or to permissions can end, one
     * file becomes due immediately. If it succeeds, the others with the same cause become due too.
     *
     * @returns whether there is such a file
     */
    folderSeen: (folder: string): boolean => {
      let isOneDue = false;
      for (const code of endedByDisk) {
        const [id] = groups.get(causeOf(folder, code))?.tried ?? [];
        if (id === undefined || !backoffs.isBackingOff(id)) continue;
        backoffs.forget(id);
        isOneDue = true;
      }
      return isOneDue;
    },
    /** Ends the file's wait. @param isBetter whether its cause is gone, which makes the others with that cause due */
    end: (id: string, isBetter: boolean): void => {
      const group = drop(id);
      backoffs.forget(id);
      if (!isBetter || group === null) return;
      for (const other of group.tried) backoffs.forget(other);
      group.tried.clear();
    },
  };
}

interface Group {
  files: number;
  /** The files of the group that are backing off. */
  readonly tried: Set<string>;
}

function causeOf(folder: string, code = ''): string {
  return `${folder}\0${code}`;
}

/** Causes for which a retry reads none of the file's bytes until the cause is gone. */
const endedByDisk: readonly string[] = [folderAway, 'EACCES', 'EPERM', 'EROFS', 'unreadable' satisfies ReasonCode];
