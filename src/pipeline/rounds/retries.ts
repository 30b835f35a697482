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
  /** Lets one file continue. */
  release(id: string): Promise<void>;
  /** The current policy, which a reload may change. */
  retry(): RetryPolicy;
  /** There is something to release from this time on, on the monotonic clock. */
  ringAt(at: number): void;
}

/** Released in one round; the others follow in the next. */
const mostAtOnce = 500;
const mostRows = 10_000;

/** A clock set back by less delays no deadline noticeably. */
const toleratedMs = 1_000;

/** Releases files whose wait is over. All deadlines are in the ledger. */
export function createRetries({ store, clock, release, retry, ringAt }: RetriesWorld) {
  const foldersBack = new Set<string>();
  let clockOffset = Infinity;
  /** The first deadline (epoch milliseconds), which saves a query until then. Unknown at the start. */
  let nextAt = 0;
  /**
   * True at the start too: a new key from a systemd credential arrives with a restart, and must not take five minutes
   * to work.
   */
  let isServiceBack = true;

  const waiting = (dueBy: number, limit: number) => store.rows({ group: 'retrying', dueBy, limit });

  const releaseEach = async (isReleased: (facts: Facts) => boolean): Promise<void> => {
    const rows = await waiting(Number.MAX_SAFE_INTEGER, mostRows);
    for (const facts of rows) if (isReleased(facts)) await release(facts.id);
  };

  const releaseForService = async (): Promise<void> => {
    if (!isServiceBack) return;
    // Cleared before the wait, because the service may return in the meantime for files that this query did not see.
    isServiceBack = false;
    try {
      // `folderBack` releases the files of a folder that is back.
      await releaseEach((facts) => waitedForService(facts) && facts.lastFailure?.code !== folderAway);
    } catch (error) {
      isServiceBack = true;
      throw error;
    }
  };

  /**
   * Deadlines are on the wall clock: after it was set back, or at a start, some may lie further ahead than their wait
   * was long.
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
    // Another worker has the file: ringing at once would keep a processor busy until that ends. The next tick checks
    // again.
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
     * Releases files whose wait is over. Called with every tick of the loop, also while everything waits.
     *
     * @param isOurTurn false: another host of the fleet handles deadlines, so only what this host alone knows is
     *   released
     */
    run: async (isOurTurn: boolean): Promise<void> => {
      const now = clock.now();
      await releaseForService();
      if (isOurTurn) await releaseTooFar(now);
      if (isOurTurn) await releaseDue(now);
      await releaseFolders();
    },
    /** A file waits until this time (epoch milliseconds). */
    waits,
    /** The service, or an upload host, is back: the next round releases the files that waited for it. */
    serviceBack: (): void => {
      isServiceBack = true;
    },
    /** A watched folder can be trusted again: the next round releases the files that waited for it. */
    folderBack: (folder: string): void => {
      foldersBack.add(folder);
    },
  };
}

function waitedForService({ lastFailure }: Facts): boolean {
  return lastFailure?.kind === 'offline' || lastFailure?.kind === 'suspended';
}
