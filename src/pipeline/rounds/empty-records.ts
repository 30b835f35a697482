import { mayHaveArrived, unbound } from '../file/facts.ts';
import type { End, Facts } from '../file/facts.ts';
import type { Clock, LeftoverStore, Receipts, VideoHost } from '../file/ports.ts';
import type { RowStore } from '../file/row-groups.ts';
import type { Row, Rows } from '../file/rows.ts';
import { bury, isUnsure } from '../steps/delete-video.ts';
import { addressGraceMs } from '../steps/upload.ts';
import type { Logger } from '../../log/logger.ts';

export interface GiveBackWorld {
  readonly store: RowStore<'abandoned'> & Pick<LeftoverStore, 'noteDeletion' | 'deletionsSince'>;
  readonly rows: Pick<Rows, 'claim'>;
  readonly host: Pick<VideoHost, 'status' | 'remove'>;
  readonly receipts: Receipts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Ends after which a file's record is no longer needed. A failed or held file keeps its record until it is retried. A
 * skipped file that has a record was ignored by the operator.
 */
const givenUp: readonly End[] = ['superseded', 'vanished', 'skipped'];

/** Maximum number of records per round, because this is the least urgent work. */
const atOnce = 4;
const everyMs = 60_000;

/** Wait after a round that did not delete a record. Kept in memory, so a restart checks immediately. */
const restMs = 10 * 60_000;

/**
 * How long dropcast keeps asking the service about a body that may have arrived. After that, `dropcast suspects` lists
 * the record for the operator.
 */
const askedForMs = 24 * 60 * 60_000;

/**
 * Maximum number of deletions per day. More would indicate a serious fault; `dropcast suspects` lists the remaining
 * records for the operator.
 */
const mostPerDay = 100;
const dayMs = 86_400_000;

/**
 * Deletes the records of files that changed, disappeared or were ignored before their bytes were sent, since those
 * records would stay empty. Decision record 0024 defines the proof that a deletion needs.
 */
export function createGiveBack({ store, rows, host, receipts, clock, logger }: GiveBackWorld) {
  const restsUntil = new Map<string, number>();
  let notBefore = -Infinity;
  let saidAt = -Infinity;

  const isDue = (facts: Facts): boolean => {
    const { id, endedAt } = facts;
    if ((restsUntil.get(id) ?? -Infinity) > clock.elapsed() || isForPerson(facts, clock.now())) return false;
    const endedMs = clock.now() - (endedAt ?? 0);
    // A time in the future dates from before the clock was set back and proves nothing.
    return endedMs >= addressGraceMs || endedMs < 0;
  };

  /** Returns the rows to check now. Records left to the operator must not block the others. */
  const dueNow = async (): Promise<readonly Facts[]> => {
    for (;;) {
      const limit = 2 * (atOnce + restsUntil.size);
      const abandoned = await store.rows({ group: 'abandoned', ends: givenUp, limit });
      const forPerson = abandoned.filter((facts) => isForPerson(facts, clock.now()) && !restsUntil.has(facts.id));
      if (forPerson.length === 0) return abandoned.filter(isDue).slice(0, atOnce);
      for (const { id } of forPerson) restsUntil.set(id, 0);
    }
  };

  /**
   * Marks a record for deletion. From then on only the DELETE may proceed, even after a restart. @returns whether the
   * row is marked
   */
  const mark = async (row: Row, videoId: string): Promise<boolean> => {
    const now = clock.now();
    // `now` is the upper bound, because times in the future date from before the clock was set back.
    if ((await store.deletionsSince(now - dayMs, now)) >= mostPerDay) {
      if (clock.elapsed() - saidAt > dayMs)
        logger.warn('No more empty records are deleted today; `dropcast suspects` lists them', { most: mostPerDay });
      saidAt = clock.elapsed();
      return false;
    }
    await store.noteDeletion(videoId, now);
    await receipts.append('dying', { ...row.facts, dying: true });
    await row.write({ dying: true }, `video ${videoId} is empty and no longer needed: deleting it`);
    return true;
  };

  const isMarked = async (row: Row, videoId: string, signal: AbortSignal): Promise<boolean> => {
    // The video was to be replaced, but the whole file may have been sent, so the service may have the only copy.
    const isOnlyCopy = row.facts.dying && mayHaveArrived(row.facts);
    if (isOnlyCopy) await row.write({ dying: false }, `video ${videoId} is kept: it may have the whole file`);
    const { dying } = row.facts;
    if (dying && !isUnsure(row.facts)) return true;
    const status = await host.status(videoId, signal, 'poll');
    if (status.ok && status.value === 'pending') return dying || (!mayHaveArrived(row.facts) && mark(row, videoId));
    if (status.ok)
      await row.write({ remoteStatus: status.value, dying: false }, `video ${videoId} is ${status.value}: it is kept`);
    else if (status.failure.kind === 'gone') await row.write(unbound, `video ${videoId} is gone`);
    return false;
  };

  const one = async (row: Row, signal: AbortSignal): Promise<void> => {
    const { id, videoId, end } = row.facts;
    if (videoId === null || end === null || !givenUp.includes(end)) return;
    restsUntil.set(id, clock.elapsed() + restMs);
    if (!(await isMarked(row, videoId, signal))) return;
    const of = { host, priority: 'poll', note: 'deleted: it was empty' } as const;
    if ((await bury(row, signal, of)) === null) restsUntil.delete(id);
  };

  return {
    run: async (signal: AbortSignal): Promise<void> => {
      if (clock.elapsed() < notBefore) return;
      notBefore = clock.elapsed() + everyMs;
      for (const { id } of await dueNow()) {
        if (signal.aborted) return;
        await rows.claim(id, (row) => one(row, signal));
      }
    },
  };
}

/** Whether the service has left a possible body unconfirmed for so long that the operator has to decide. */
function isForPerson(facts: Facts, now: number): boolean {
  return mayHaveArrived(facts) && now - (facts.endedAt ?? 0) > askedForMs;
}
