import { folderAway } from '../pause.ts';
import { longestWaitMs } from '../file/backoff.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import type { Facts } from '../file/facts.ts';
import type { Clock } from '../file/ports.ts';
import type { RowStore } from '../file/row-groups.ts';
import { believed } from '../ages.ts';

export interface RetriesWorld {
  readonly store: RowStore<'retrying'>;
  readonly clock: Clock;
  release(id: string): Promise<void>;
  /** The current policy, which a reload may change. */
  retry(): RetryPolicy;
  ringAt(at: number): void;
}

/** Maximum number of files released in one round; the others follow in the next. */
const mostAtOnce = 500;
const mostRows = 10_000;

/** Smallest backward change of the clock that matters. A smaller one does not delay deadlines noticeably. */
const toleratedMs = 1_000;

/** Releases files whose wait is over. All deadlines come from the ledger. */
export function createRetries({ store, clock, release, retry, ringAt }: RetriesWorld) {
  const foldersBack = new Set<string>();
  let clockOffset = Infinity;
  /** The earliest deadline (epoch milliseconds), until which no query is needed. Unknown at the start. */
  let nextAt = 0;
  /**
   * Whether to release the files that waited for the service. True at the start too: a new key from a systemd
   * credential arrives with a restart and must not take five minutes to work.
   */
  let isServiceBack = true;
  /** Whether these include the files that waited because the service refuses new videos. */
  let isAccountBack = false;

  const waiting = (dueBy: number, limit: number) => store.rows({ group: 'retrying', dueBy, limit });

  const releaseEach = async (isReleased: (facts: Facts) => boolean): Promise<void> => {
    const rows = await waiting(Number.MAX_SAFE_INTEGER, mostRows);
    for (const facts of rows) if (isReleased(facts)) await release(facts.id);
  };

  const releaseForService = async (): Promise<void> => {
    if (!isServiceBack) return;
    // Cleared before the query, because the service may come back in the meantime for files that this query did not
    // see.
    const withAccount = isAccountBack;
    [isServiceBack, isAccountBack] = [false, false];
    try {
      // `folderBack` releases the files of a folder that is available again.
      await releaseEach(
        (facts) =>
          waitedForService(facts) &&
          facts.lastFailure?.code !== folderAway &&
          (withAccount || facts.lastFailure?.account === undefined),
      );
    } catch (error) {
      isServiceBack = true;
      isAccountBack ||= withAccount;
      throw error;
    }
  };

  /**
   * Releases files whose deadline is further ahead than their wait can be. Deadlines are on the wall clock, which may
   * have been set back, or may be found wrong at a start.
   */
  const releaseTooFar = async (now: number): Promise<void> => {
    const before = clockOffset;
    clockOffset = now - clock.elapsed();
    if (clockOffset >= before - toleratedMs) return;
    const policy = retry();
    await releaseEach(
      ({ notBefore, attempts, lastFailure }) =>
        notBefore !== null &&
        notBefore > believed(notBefore, now, longestWaitMs(attempts, lastFailure, policy) + toleratedMs),
    );
  };

  const releaseFolders = async (): Promise<void> => {
    if (foldersBack.size === 0) return;
    const back = new Set(foldersBack);
    foldersBack.clear();
    try {
      await releaseEach(({ folder, lastFailure }) => back.has(folder) && lastFailure?.code === folderAway);
    } catch (error) {
      for (const folder of back) foldersBack.add(folder);
      throw error;
    }
  };

  const releaseDue = async (now: number): Promise<void> => {
    const due = await waiting(now, mostAtOnce);
    for (const { id } of due) await release(id);
    if (nextAt > now) return;
    const [next] = await waiting(Number.MAX_SAFE_INTEGER, 1);
    const notBefore = next?.notBefore ?? Infinity;
    // Another worker has the file. Ringing immediately would busy-loop until that worker is done, so the next tick
    // checks again.
    const isHeld = notBefore <= now && due.length < mostAtOnce;
    nextAt = isHeld ? now : Infinity;
    if (!isHeld) waits(notBefore);
  };

  const waits = (notBefore: number): void => {
    if (notBefore >= nextAt) return;
    nextAt = notBefore;
    ringAt(clock.elapsed() + Math.max(0, notBefore - clock.now()));
  };

  return {
    /**
     * Releases files whose wait is over. Called on every tick of the loop, even while everything is paused.
     *
     * @param isOurTurn false if another host of the fleet handles deadlines; only what this host alone knows is then
     *   released
     */
    run: async (isOurTurn: boolean): Promise<void> => {
      const now = clock.now();
      await releaseForService();
      if (isOurTurn) await releaseTooFar(now);
      if (isOurTurn) await releaseDue(now);
      await releaseFolders();
    },
    /** Schedules a round for a file that must wait until `notBefore` (epoch milliseconds). */
    waits,
    /**
     * Records that the service or an upload host is back. The next round releases the files that waited for it.
     *
     * @param withAccount whether the service may also accept new videos again
     */
    serviceBack: (withAccount = false): void => {
      isServiceBack = true;
      isAccountBack ||= withAccount;
    },
    /** Records that a watched folder can be trusted again. The next round releases the files that waited for it. */
    folderBack: (folder: string): void => {
      foldersBack.add(folder);
    },
  };
}

function waitedForService({ lastFailure }: Facts): boolean {
  return lastFailure?.kind === 'offline' || lastFailure?.kind === 'suspended';
}
