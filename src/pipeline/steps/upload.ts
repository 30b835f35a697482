import type { Facts } from '../file/facts.ts';
import { mayHaveArrived, unbound } from '../file/facts.ts';
import { isAway } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import type { Outcome } from '../file/machine.ts';
import type { Clock, FileStore, LocalFiles, Receipts, VideoHost } from '../file/ports.ts';

export interface UploadWorld {
  readonly store: FileStore;
  readonly host: VideoHost;
  readonly local: LocalFiles;
  readonly receipts: Receipts;
  readonly clock: Clock;
  onProgress(facts: Facts, sentBytes: number): void;
}

/**
 * How long a dead upload address is given before its video is replaced: the service may still be taking in the bytes of a
 * PUT whose answer was lost (design 5.5).
 */
export const addressGraceMs = 60_000;

/** How often one file's video is replaced before a person is asked. */
const mostReplacements = 3;

/**
 * The step from `awaiting upload` to `processing`. Before a PUT is **repeated** the service is asked: only a video that is
 * still `pending` may be sent to again, and to the same address (design 5.4).
 */
export async function uploadFile(facts: Facts, signal: AbortSignal, world: UploadWorld): Promise<Outcome> {
  if (facts.uploadStartedAt === null) return send(facts, signal, world);
  const status = await world.host.status(facts.videoId ?? '', signal);
  if (!status.ok)
    return status.failure.kind === 'gone' ? lost(facts, status.failure, world) : { facts, failure: status.failure };
  if (status.value !== 'pending') return arrived(facts, status.value, world);
  if (facts.addressDeadAt !== null) return replace(facts, facts.addressDeadAt, world);
  return send(facts, signal, world);
}

async function send(before: Facts, signal: AbortSignal, world: UploadWorld): Promise<Outcome> {
  const missing = await check(before, world);
  if (missing !== null) return { facts: before, failure: missing };
  let facts = await world.store.save({ ...before, uploadStartedAt: before.uploadStartedAt ?? world.clock.now() });
  // It counts as under way from here on, however long its first bytes take.
  world.onProgress(facts, 0);
  const answer = await world.host.send(facts, {
    signal,
    onProgress: (sentBytes) => world.onProgress(facts, sentBytes),
    beforeLastPart: async (sha256) => {
      facts = await world.store.save({ ...facts, sha256 });
    },
  });
  if (answer.ok) return arrived({ ...facts, sha256: answer.value.sha256 }, 'processing', world);
  const { failure } = answer;
  // Not found when it was opened: whether the file is away or its whole folder only a look at both tells.
  if (failure.kind === 'vanished') return { facts, failure: (await check(facts, world)) ?? backAgain };
  if (failure.kind !== 'address dead') return { facts, failure };
  facts = await world.store.save(
    { ...facts, addressDeadAt: facts.addressDeadAt ?? world.clock.now() },
    failure.message,
  );
  return { facts, failure: { ...failure, retryAfterMs: addressGraceMs } };
}

/** The bytes are there, by our own answer or by the service's word. */
async function arrived(before: Facts, status: string, world: UploadWorld): Promise<Outcome> {
  const now = world.clock.now();
  const facts: Facts = { ...before, uploadedAt: now, processingSince: now, addressDeadAt: null, remoteStatus: status };
  await world.receipts.append('uploaded', facts);
  return { facts: await world.store.save(facts), failure: null };
}

/**
 * The service does not know the video any more. If no complete body ever left this machine nothing can have been seen, and a
 * new record is in order; else somebody deleted it, and that is respected (design 5.7).
 */
async function lost(facts: Facts, failure: Failure, world: UploadWorld): Promise<Outcome> {
  if (facts.sha256 !== null) return { facts, failure };
  return again({ ...facts, ...unbound }, `video ${facts.videoId} is gone before its upload was complete`, world);
}

/** Still `pending` after the grace, and the address is dead: delete it until it is away, then create anew. */
async function replace(facts: Facts, deadSince: number, world: UploadWorld): Promise<Outcome> {
  // A `retry` by hand ends the backoff, not the grace.
  const graceLeftMs = Math.min(addressGraceMs, deadSince + addressGraceMs - world.clock.now());
  if (graceLeftMs > 0) return { facts, failure: stillInGrace(graceLeftMs) };
  // The only copy of the bytes is the local file: no delete without it.
  const missing = await check(facts, world);
  if (missing !== null) return { facts, failure: missing };
  return again({ ...facts, dying: true }, `the upload address of video ${facts.videoId} is dead: replacing it`, world);
}

async function again(facts: Facts, note: string, world: UploadWorld): Promise<Outcome> {
  if (facts.replacements >= mostReplacements) return { facts, failure: replacedTooOften };
  if (facts.dying) await world.receipts.append('dying', facts);
  return { facts: await world.store.save({ ...facts, replacements: facts.replacements + 1 }, note), failure: null };
}

/**
 * Why the bytes cannot be sent, or null. If a whole body went out, its answer was lost, and the service does not show it yet,
 * then the file being away or changed must not end this video's way. When the service does not show it for all attempts, a
 * person is asked.
 */
async function check(facts: Facts, world: UploadWorld): Promise<Failure | null> {
  const missing = await world.local.check(facts);
  if (missing === null || !isAway(missing) || !mayHaveArrived(facts)) return missing;
  return {
    kind: 'transient',
    code: 'unconfirmed',
    message: `the whole file was sent, but the service does not show it yet, and to send it again is impossible: ${missing.message}`,
  };
}

const backAgain: Failure = {
  kind: 'transient',
  code: 'back_again',
  message: 'the file was away for a moment, and is there again',
};

const stillInGrace = (leftMs: number): Failure => ({
  kind: 'throttled',
  code: 'upload_address_dead',
  message: 'the upload address is dead; bytes sent before may still be taken in',
  retryAfterMs: leftMs,
});

const replacedTooOften: Failure = {
  kind: 'permanent',
  code: 'upload_address_dead',
  message: `the upload address died ${mostReplacements + 1} times, each time with a new record`,
};
