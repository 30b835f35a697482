import { mayHaveArrived, unbound } from '../file/facts.ts';
import type { End, Facts } from '../file/facts.ts';
import type { Clock, LeftoverStore, Receipts, VideoHost } from '../file/ports.ts';
import type { Row, Rows } from '../file/rows.ts';
import { bury } from '../steps/bury.ts';
import { addressGraceMs } from '../steps/upload.ts';
import type { Logger } from '../../log/logger.ts';

export interface GiveBackWorld {
  readonly store: Pick<LeftoverStore, 'abandoned' | 'noteDeletion' | 'deletionsSince'>;
  readonly rows: Pick<Rows, 'claim'>;
  readonly host: Pick<VideoHost, 'status' | 'remove'>;
  readonly receipts: Receipts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Deletes the records of files that changed, disappeared or were ignored before their bytes were sent: nobody will ever fill them. */
export interface GiveBack {
  run(signal: AbortSignal): Promise<void>;
}

/** A file that failed or is held keeps its record: a retry sends to it. What is skipped with one was ignored by a person. */
const givenUp: readonly End[] = ['superseded', 'vanished', 'skipped'];

/** Records of one round, and the time between two: this is the least urgent of all work. */
const atOnce = 4;
const everyMs = 60_000;

/** After a look that ended without a deletion. In memory: a restart looks at once. */
const restMs = 10 * 60_000;

/** Something is badly wrong if there are more; a person finds them with `dropcast suspects`. */
const mostPerDay = 100;
const dayMs = 86_400_000;

/** Decision record 0024 has the proofs that a deletion needs. */
export function createGiveBack({ store, rows, host, receipts, clock, logger }: GiveBackWorld): GiveBack {
  const restsUntil = new Map<string, number>();
  let notBefore = -Infinity;
  let saidAt = -Infinity;

  const isDue = ({ id, endedAt }: Facts): boolean => {
    if ((restsUntil.get(id) ?? -Infinity) > clock.elapsed()) return false;
    const endedMs = clock.now() - (endedAt ?? 0);
    // In the future: the clock was set back, and the time says nothing.
    return endedMs >= addressGraceMs || endedMs < 0;
  };

  /** From the mark on only the DELETE may go on, also after a restart. @returns whether the row has it */
  const mark = async (row: Row, videoId: string): Promise<boolean> => {
    const now = clock.now();
    if ((await store.deletionsSince(now - dayMs)) >= mostPerDay) {
      if (clock.elapsed() - saidAt > dayMs)
        logger.warn('No more empty records are deleted today; `dropcast suspects` lists them', { most: mostPerDay });
      saidAt = clock.elapsed();
      return false;
    }
    await store.noteDeletion(videoId, now);
    await receipts.append('dying', { ...row.facts, dying: true });
    await row.write({ dying: true }, `video ${videoId} is empty and of no use: deleting it`);
    return true;
  };

  const isMarked = async (row: Row, videoId: string, signal: AbortSignal): Promise<boolean> => {
    // It was to be replaced, all of it may have left, and its file is gone: the service may have the only copy.
    const isOnlyCopy = row.facts.dying && mayHaveArrived(row.facts);
    if (isOnlyCopy) await row.write({ dying: false }, `video ${videoId} is kept: its local file is gone`);
    if (row.facts.dying) return true;
    const status = await host.status(videoId, signal, 'poll');
    if (status.ok && status.value === 'pending') return !mayHaveArrived(row.facts) && mark(row, videoId);
    if (status.ok) await row.write({ remoteStatus: status.value }, `video ${videoId} is ${status.value}: it is kept`);
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
    run: async (signal) => {
      if (clock.elapsed() < notBefore) return;
      notBefore = clock.elapsed() + everyMs;
      const abandoned = await store.abandoned(givenUp, atOnce + restsUntil.size);
      for (const { id } of abandoned.filter(isDue).slice(0, atOnce)) {
        if (signal.aborted) return;
        await rows.claim(id, (row) => one(row, signal));
      }
    },
  };
}
