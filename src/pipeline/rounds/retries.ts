import { folderAway } from '../pause.ts';
import { longestWaitMs } from '../file/backoff.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import type { Facts } from '../file/facts.ts';
import type { Clock, FileStore } from '../file/ports.ts';
import { believed } from '../file/stored-time.ts';

/** Files that wait for their next try: which of them may go on, and when. All deadlines are in the ledger. */
export interface Retries {
  /**
   * Releases what is due. Called with every tick of the loop, also while everything waits.
   *
   * @param isOurTurn false: another host of the fleet looks at deadlines; only what this host alone knows is released
   */
  run(isOurTurn: boolean): Promise<void>;
  /** The service, or an upload host, is back: the next round releases what waited for it. */
  serviceBack(): void;
  /** A file waits until then (epoch milliseconds). */
  waits(notBefore: number): void;
  /** A watched folder can be trusted again: the next round releases what waited for it. */
  folderBack(folder: string): void;
}

export interface RetriesWorld {
  readonly store: Pick<FileStore, 'due'>;
  readonly clock: Clock;
  /** Lets one file go on. */
  release(id: string): Promise<void>;
  /** As it now is: a reload may change it. */
  retry(): RetryPolicy;
  /** There is something to release from then on, by the monotonic clock. */
  ringAt(at: number): void;
}

/** Released in one round; the others follow in the next. */
const mostAtOnce = 500;
const mostRows = 10_000;

/** A clock that was set back by less makes no deadline wait noticeably longer. */
const toleratedMs = 1_000;

export function createRetries({ store, clock, release, retry, ringAt }: RetriesWorld): Retries {
  const foldersBack = new Set<string>();
  let clockOffset = Infinity;
  /** The first deadline, epoch milliseconds: by it the next one is looked up. At a start it is not known. */
  let nextAt = 0;
  /** At a start too: a restart is how a new key comes in when it is a credential of systemd, and nobody waits five minutes for it. */
  let isServiceBack = true;

  const releaseEach = async (isReleased: (facts: Facts) => boolean): Promise<void> => {
    const rows = await store.due('retrying', Number.MAX_SAFE_INTEGER, mostRows);
    for (const facts of rows) if (isReleased(facts)) await release(facts.id);
  };

  const releaseForService = async (): Promise<void> => {
    if (!isServiceBack) return;
    // Before the wait: it may be back again meanwhile, for those that this look did not see.
    isServiceBack = false;
    try {
      // A folder that is missing says itself when it is back.
      await releaseEach((facts) => waitedForService(facts) && facts.lastFailure?.code !== folderAway);
    } catch (error) {
      isServiceBack = true;
      throw error;
    }
  };

  /** Deadlines are on the wall clock: after it was set back, or at a start, some may lie further ahead than their own wait was long. */
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
    const due = await store.due('retrying', now, mostAtOnce);
    for (const { id } of due) await release(id);
    if (nextAt > now) return;
    const [next] = await store.due('retrying', Number.MAX_SAFE_INTEGER, 1);
    const notBefore = next?.notBefore ?? Infinity;
    // Somebody else works on it: to ring for it at once would keep a processor busy until that ends. The next tick looks again.
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
    run: async (isOurTurn) => {
      const now = clock.now();
      await releaseForService();
      if (isOurTurn) await releaseTooFar(now);
      if (isOurTurn) await releaseDue(now);
      await releaseFolders();
    },
    waits,
    serviceBack: () => {
      isServiceBack = true;
    },
    folderBack: (folder) => {
      foldersBack.add(folder);
    },
  };
}

function waitedForService({ lastFailure }: Facts): boolean {
  return lastFailure?.kind === 'offline' || lastFailure?.kind === 'suspended';
}
