import { folderAway } from '../pause.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock, LocalFiles, PutAwayStore } from '../file/ports.ts';
import type { Row, Rows } from '../file/rows.ts';
import { createBackoffs } from './backoffs.ts';
import type { Logger } from '../../log/logger.ts';

export interface PutAwayWorld {
  readonly store: PutAwayStore;
  readonly rows: Pick<Rows, 'hold'>;
  readonly local: LocalFiles;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retry: () => RetryPolicy;
}

/** Does with the local files of finished videos what `after_ready` says. */
export interface PutAway {
  /** @returns how many files are dealt with, one way or the other */
  run(signal: AbortSignal): Promise<number>;
}

/** Files of one round, so that none waits long for the end of another's. */
const atOnce = 8;

export function createPutAway(world: PutAwayWorld): PutAway {
  const { store, rows, logger } = world;
  const backoffs = createBackoffs(world.clock, world.retry);
  /** Codes that were logged: a disk that takes no writes is the same for every file on it. */
  const logged = new Set<string>();

  const log = ({ code, message }: Failure, id: string): void => {
    if (code === folderAway || logged.has(code)) return;
    logged.add(code);
    logger.warn('Local files cannot be moved or deleted; they wait', { file: id, code, why: message });
  };

  /** @returns whether it is dealt with, one way or the other */
  const one = async (row: Row, signal: AbortSignal): Promise<boolean> => {
    const { id } = row.facts;
    const failure = await putAway(row, world.local, signal);
    if (signal.aborted) return false;
    if (failure === null) {
      logged.clear();
      backoffs.forget(id);
      return true;
    }
    if (failure.kind === 'suspended') log(failure, id);
    if (backoffs.retryAfter(id, failure)) return false;
    const why = `kept: ${failure.message}`;
    await row.write({ disposal: 'refused', why }, why);
    return true;
  };

  return {
    run: async (signal) => {
      let dealtWith = 0;
      for (const { id } of await store.toDispose(atOnce + backoffs.size())) {
        if (signal.aborted) return dealtWith;
        if (backoffs.isBackingOff(id)) continue;
        if ((await rows.hold(id, (row) => one(row, signal))) === true) dealtWith += 1;
      }
      return dealtWith;
    },
  };
}

/** @returns why the file is not put away, or null */
async function putAway(row: Row, local: LocalFiles, signal: AbortSignal): Promise<Failure | null> {
  if (row.facts.disposal !== 'pending') return null;
  const refusal = await refuse(row.facts, local, signal);
  if (refusal?.kind === 'vanished') {
    await row.write({ disposal: 'deleted' }, 'the local file is already gone');
    return null;
  }
  if (refusal !== null) return refusal;
  const answer = await local.dispose(row.facts);
  if (!answer.ok) return answer.failure;
  const moved = answer.value;
  if (moved === null) await row.write({ disposal: 'deleted' }, 'local file deleted');
  else await row.write({ ...moved, disposal: 'moved' }, `moved to ${moved.path}`);
  return null;
}

/** Only after `ready`, and only the very bytes that were sent: equal size and hash, read again now. */
async function refuse(facts: Facts, local: LocalFiles, signal: AbortSignal): Promise<Failure | null> {
  const missing = await local.check(facts);
  if (missing !== null || facts.sourceUrl !== null) return missing;
  if (facts.sha256 === null) return notTheSame('it is not known which bytes were sent');
  // Before gigabytes are read: where nothing can be written, each further try would read them again.
  const barred = await local.checkDisposal(facts);
  if (barred !== null) return barred;
  const hash = await local.hash(facts, signal);
  if (!hash.ok) return hash.failure;
  return hash.value === facts.sha256 ? null : notTheSame('its content is not what was sent');
}

const notTheSame = (message: string): Failure => ({ kind: 'permanent', code: 'not_the_same', message });
