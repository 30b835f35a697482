import { folderAway } from '../pause.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import type { Facts } from '../file/facts.ts';
import { mustAskFirst } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock, FileAt, LocalFiles } from '../file/ports.ts';
import type { RowStore } from '../file/row-groups.ts';
import type { Row, Rows } from '../file/rows.ts';
import { createWaitingFiles } from './waiting-files.ts';
import type { Logger } from '../../log/logger.ts';

export interface PutAwayWorld {
  readonly store: RowStore<'to put away' | 'waiting for disk'>;
  readonly rows: Pick<Rows, 'claim'>;
  readonly local: Pick<LocalFiles, 'dispose'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retry: () => RetryPolicy;
  /** Schedules a round for this time on the monotonic clock, when more work is due. */
  readonly ringAt?: (name: string, at: number) => void;
  /** Whether the service has just confirmed the video, where that is required. */
  readonly isHosted: (facts: Facts) => boolean;
}

const mostWaiting = 100_000;

/** Maximum number of files per round, so that none waits long for another. */
const atOnce = 8;

export function createPutAway(world: PutAwayWorld) {
  const { store, rows, logger } = world;
  const waiting = createWaitingFiles(world.clock, world.retry, (at) => world.ringAt?.('put away', at));
  let isStart = true;

  const rememberWaiting = async (): Promise<void> => {
    if (!isStart) return;
    for (const facts of await store.rows({ group: 'waiting for disk', limit: mostWaiting })) waiting.remember(facts);
    isStart = false;
  };

  /** @returns whether the file is dealt with, successfully or not */
  const setBack = async (row: Row, failure: Failure): Promise<boolean> => {
    const { id, folder, lastFailure } = row.facts;
    const { code, message } = failure;
    if (code === mustAskFirst.code) {
      waiting.end(id, false);
      await row.write({ disposal: 'later', why: null, lastFailure: null }, message);
      return true;
    }
    const wait = waiting.wait(row.facts, failure);
    if (wait === null) {
      waiting.end(id, false);
      const why = `kept: ${message}`;
      await row.write({ disposal: 'refused', why, lastFailure: failure }, why);
      return true;
    }
    if (wait === 'first' && code !== folderAway)
      logger.warn('Cannot move or delete local files; they wait', { folder, file: id, code, why: message });
    const change = { disposal: 'waiting', why: message, lastFailure: failure } as const;
    await row.write(change, lastFailure?.code === code ? undefined : `not put away: ${message}`);
    return false;
  };

  const one = async (row: Row, signal: AbortSignal): Promise<boolean> => {
    const { id, end, disposal } = row.facts;
    if (end !== 'done' || (disposal !== 'pending' && disposal !== 'waiting')) {
      waiting.end(id, false);
      return false;
    }
    const failure = await putAway(row, world, signal);
    if (failure !== null) return signal.aborted ? false : setBack(row, failure);
    waiting.end(id, true);
    return true;
  };

  return {
    /** Whether every waiting file has been tried since the start, or since its next try became due. */
    isUpToDate: (): boolean => !isStart && waiting.due(1).length === 0,
    /** @returns how many files were dealt with, successfully or not */
    run: async (signal: AbortSignal): Promise<number> => {
      await rememberWaiting();
      const fresh = (await store.rows({ group: 'to put away', limit: atOnce })).map(({ id }) => id);
      let dealtWith = 0;
      for (const id of [...fresh, ...waiting.due(atOnce)]) {
        if (signal.aborted) return dealtWith;
        if ((await rows.claim(id, (row) => one(row, signal))) === true) dealtWith += 1;
      }
      return dealtWith;
    },
    /** Records a successful scan of the folder. @returns whether there is something to try again */
    folderSeen: (folder: string): boolean => waiting.folderSeen(folder),
    /**
     * Retries a file that is waiting or was kept. @returns whether there is such a file; null if another worker holds
     * its row
     */
    again: (id: string): Promise<boolean | null> =>
      rows.claim(id, async (row) => {
        const { end, disposal } = row.facts;
        if (end !== 'done' || (disposal !== 'waiting' && disposal !== 'refused')) return false;
        waiting.hurry(id);
        await row.write({ disposal: 'pending', why: null, lastFailure: null }, 'tried again');
        return true;
      }),
  };
}

/** @returns why the file was not put away, or null */
async function putAway(
  row: Row,
  { local, isHosted }: Pick<PutAwayWorld, 'local' | 'isHosted'>,
  signal: AbortSignal,
): Promise<Failure | null> {
  const { facts } = row;
  if (facts.sourceUrl === null && facts.sha256 === null) return bytesUnknown;
  const { file: renamed, ...answer } = await local.dispose(facts, signal, isHosted(facts));
  if (renamed !== undefined) await row.write(renamed, `renamed to ${renamed.path}`);
  if (answer.ok) await row.write({ ...over, ...placeOf(answer.value) }, noteOf(answer.value));
  else if (answer.failure.kind === 'vanished')
    await row.write({ ...over, disposal: 'deleted' }, 'the local file is already gone');
  else return answer.failure;
  return null;
}

const over = { why: null, lastFailure: null } as const;

function placeOf(file: FileAt | null): Partial<Facts> {
  return file === null ? { disposal: 'deleted' } : { ...file, disposal: 'moved' };
}

function noteOf(file: FileAt | null): string {
  return file === null ? 'local file deleted' : `moved to ${file.path}`;
}

const bytesUnknown: Failure = {
  kind: 'permanent',
  code: 'not_the_same',
  message: 'it is not known which bytes were sent',
};
