import type { RetryPolicy } from '../file/backoff.ts';
import { folderAway } from '../pause.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import { createPatience } from './patience.ts';
import type { Clock, FileStore, LocalFiles, VideoHost } from '../file/ports.ts';
import type { Runner } from '../steps/runner.ts';
import type { Logger } from '../../log/logger.ts';

/** Rows with something left to do beside the way to `done`. */
export interface AftercareStore {
  /** `done`, and the local file is still to be deleted or moved. */
  toDispose(limit: number): Promise<readonly Facts[]>;
  /** Have a video and metadata to be sent to it. */
  toAmend(limit: number): Promise<readonly Facts[]>;
}

export interface AftercareWorld {
  readonly store: FileStore & AftercareStore;
  readonly host: VideoHost;
  readonly local: LocalFiles;
  readonly runner: Pick<Runner, 'claim' | 'isLive'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retry: () => RetryPolicy;
}

export interface Aftercare {
  /** Deletes or moves the local files of finished videos. Returns how many were settled, one way or the other. */
  dispose(signal: AbortSignal): Promise<number>;
  /** Sends what late sidecars changed. */
  amend(signal: AbortSignal): Promise<void>;
}

/** Files looked after in one round, so that none waits long for the end of another's. */
const atOnce = 8;

export function createAftercare(world: AftercareWorld): Aftercare {
  const { store, clock, retry } = world;
  const disposals = createPatience(clock, retry);
  const amendments = createPatience(clock, retry);

  /** Codes that were told of: a disk that takes no writes is the same for every file on it. */
  const told = new Set<string>();
  const tell = ({ code, message }: Failure, id: string): void => {
    if (code === folderAway || told.has(code)) return;
    told.add(code);
    world.logger.warn('Local files cannot be put away, they wait', { file: id, code, why: message });
  };

  return {
    dispose: async (signal) => {
      let settled = 0;
      for (const { id } of await store.toDispose(atOnce + disposals.size())) {
        if (signal.aborted || disposals.rests(id)) continue;
        const failure = await world.runner.claim(id, () => disposeOne(id, world, signal));
        if (signal.aborted) return settled;
        if (failure === null) told.clear();
        else if (failure.kind === 'suspended') tell(failure, id);
        if (failure !== null && !disposals.isWorthAnother(id, failure)) await giveUp(id, failure, world);
        if (!disposals.rests(id)) settled += 1;
      }
      return settled;
    },
    amend: async (signal) => {
      for (const facts of await store.toAmend(atOnce + amendments.size())) {
        // Of a file that somebody works on the sending could not be noted, and it would be sent again and again meanwhile.
        if (signal.aborted || amendments.rests(facts.id) || world.runner.isLive(facts.id)) continue;
        const failure = await amendOne(facts, world, signal);
        if (signal.aborted) return;
        if (failure === null) amendments.forget(facts.id);
        else if (!amendments.isWorthAnother(facts.id, failure)) await dropAmendment(facts, failure, world);
      }
    },
  };
}

/** @returns why it could not be settled, or null */
async function disposeOne(id: string, world: AftercareWorld, signal: AbortSignal): Promise<Failure | null> {
  const { store, local } = world;
  const facts = await store.load(id);
  if (facts === null || facts.disposal !== 'pending') return null;
  const refusal = await refuse(facts, world, signal);
  if (refusal?.kind === 'vanished') {
    await store.save({ ...facts, disposal: 'deleted' }, 'the local file is already away');
    return null;
  }
  if (refusal !== null) return refusal;
  const answer = await local.dispose(facts);
  if (!answer.ok) return answer.failure;
  const moved = answer.value;
  await store.save(
    moved === null ? { ...facts, disposal: 'deleted' } : { ...facts, ...moved, disposal: 'moved' },
    moved === null ? 'local file deleted' : `moved to ${moved.path}`,
  );
  return null;
}

/** Only after `ready`, and only the very bytes that were sent: equal size and hash, read again now. */
async function refuse(facts: Facts, { local }: AftercareWorld, signal: AbortSignal): Promise<Failure | null> {
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

async function giveUp(id: string, failure: Failure, { store, runner, logger }: AftercareWorld): Promise<void> {
  await runner.claim(id, async () => {
    const facts = await store.load(id);
    if (facts === null || facts.disposal !== 'pending') return;
    logger.warn('The local file is kept', { file: id, path: facts.path, why: failure.message });
    const why = `kept: ${failure.message}`;
    await store.save({ ...facts, disposal: 'refused', why }, why);
  });
}

/** The request holds no claim: what else happens to the file need not wait for it. */
async function amendOne(facts: Facts, world: AftercareWorld, signal: AbortSignal): Promise<Failure | null> {
  if (facts.amendment === null || facts.videoId === null) return null;
  const answer = await world.host.amend(facts.videoId, facts.amendment, signal);
  if (!answer.ok) return answer.failure;
  await settleAmendment(facts, `metadata sent: ${Object.keys(facts.amendment).join(', ')}`, world);
  return null;
}

async function dropAmendment(facts: Facts, failure: Failure, world: AftercareWorld): Promise<void> {
  const fields = { file: facts.id, path: facts.path, why: failure.message };
  world.logger.warn('The metadata of a late sidecar was not taken', fields);
  await settleAmendment(facts, `metadata not taken: ${failure.message}`, world);
}

/** What a still later sidecar wants is kept, and so sent next. */
async function settleAmendment(sent: Facts, note: string, { store, runner }: AftercareWorld): Promise<void> {
  await runner.claim(sent.id, async () => {
    const now = await store.load(sent.id);
    if (now === null || JSON.stringify(now.amendment) !== JSON.stringify(sent.amendment)) return;
    await store.save({ ...now, amendment: null }, note);
  });
}
