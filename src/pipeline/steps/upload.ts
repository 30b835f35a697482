import { alsoNeeded } from '../file/checksums.ts';
import { givenUpRecord, mayHaveArrived, suspectsOf, unbound } from '../file/facts.ts';
import type { Facts } from '../file/facts.ts';
import { isAway, outsideWindowCode, refusedAddressesCode, unconfirmedCode, webPageCode } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import { setback } from '../file/outcome.ts';
import { isSentAgain, notReceived, sentAgainAfter } from '../file/reasons.ts';
import type { Reason, ReasonCode } from '../file/reasons.ts';
import type { Outcome } from '../file/outcome.ts';
import type { Clock, LocalFiles, Receipts, VideoHost } from '../file/ports.ts';
import type { Row } from '../file/rows.ts';
import type { UploadHosts } from '../upload-hosts.ts';
import { isRecorded } from './bury.ts';
import type { RecordedStore } from './bury.ts';
import { findTwin } from './duplicates.ts';
import type { TwinWorld } from './duplicates.ts';
import { proveContent } from './prove-content.ts';

export interface UploadWorld extends TwinWorld {
  readonly store: TwinWorld['store'] & RecordedStore;
  readonly host: VideoHost;
  readonly local: LocalFiles;
  readonly receipts: Receipts;
  readonly clock: Clock;
  readonly uploadHosts: Pick<UploadHosts, 'believe' | 'isSpared' | 'takesNewAddress'>;
  /** When uploads may start again by the time of day (epoch milliseconds); null: they may now. */
  uploadsStartAt(): number | null;
  /** Deletes the record of a row that is `dying` and creates another: the step of create. */
  renew(row: Row, signal: AbortSignal): Promise<Outcome>;
  /**
   * How long the upload address of a file has been dead, in milliseconds, by the monotonic clock: a wall clock that is set forward must not
   * end the wait for a body that may have arrived.
   */
  deadMs(facts: Facts): number;
  /** Told how many bytes have left; 0 when the upload begins. */
  onProgress(facts: Facts, sentBytes: number): void;
}

/**
 * How long a dead upload address is given before its video is replaced: the service may still be taking in the bytes of a
 * PUT whose answer was lost (design 5.5).
 */
export const addressGraceMs = 60_000;

/** How long the service is asked whether it has what may have arrived at an address that is dead by now. Then a person looks. */
export const doubtMs = 15 * 60_000;

/** How often one file's video is replaced before a person is asked. */
const mostReplacements = 3;

/**
 * The step from `awaiting upload` to `processing`. Before a PUT is **repeated** the service is asked: only a video that is
 * still `pending` may be sent to again, and to the same address (design 5.4).
 *
 * @param row a file that is `awaiting upload`
 * @param signal breaks the upload off
 * @throws what the ledger or the receipts throw
 */
export async function uploadFile(row: Row, signal: AbortSignal, world: UploadWorld): Promise<Outcome> {
  const { uploadStartedAt, videoId, addressDeadAt, lastFailure } = row.facts;
  if (uploadStartedAt === null) return trySending(row, signal, world);
  const status = await world.host.status(videoId ?? '', signal);
  if (!status.ok) return status.failure.kind === 'gone' ? lost(row, status.failure, world) : setback(status.failure);
  if (status.value !== 'pending') {
    if (lastFailure?.code === webPageCode && status.value !== 'failed') world.uploadHosts.believe(row.facts);
    return arrived(row, { remoteStatus: status.value }, world);
  }
  if (isSentAgain(row.facts)) {
    // While it stood still, a copy of it may have been uploaded.
    const twin = await findTwin(row.facts, signal, world);
    if (twin?.kind === 'duplicate') return setback(twin);
  }
  if (addressDeadAt === null || world.uploadHosts.isSpared(row.facts)) return trySending(row, signal, world);
  const deadMs = world.deadMs(row.facts);
  if (!mayHaveArrived(row.facts)) return replace(row, deadMs, world);
  if (!isSentAgain(row.facts)) return setback(inDoubt(deadMs));
  return deadMs < addressGraceMs ? setback(sentAgainAfter(addressGraceMs - deadMs)) : giveUpOnRecord(row);
}

/**
 * The file that finds out whether its host still refuses every new address does so with a new record, where its own address may have
 * expired. That is not the fault of the file, so it does not count as a replacement.
 */
async function trySending(row: Row, signal: AbortSignal, world: UploadWorld): Promise<Outcome> {
  const { facts } = row;
  const isOverGrace = facts.addressDeadAt === null || world.deadMs(facts) >= addressGraceMs;
  const mayBeReplaced = !mayHaveArrived(facts) && isOverGrace;
  if (!mayBeReplaced || !world.uploadHosts.takesNewAddress(facts)) return send(row, signal, world);
  const change = { dying: true, addressDeadAt: facts.addressDeadAt ?? world.clock.now() };
  await world.receipts.append('dying', { ...facts, ...change });
  await row.write(
    change,
    `the upload address may have expired: video ${facts.videoId} is replaced to try the host again`,
  );
  const outcome = await world.renew(row, signal);
  return outcome.type === 'bound' ? send(row, signal, world) : outcome;
}

async function send(row: Row, signal: AbortSignal, world: UploadWorld): Promise<Outcome> {
  // Waited for a slot, or was sent before and has to be sent again.
  const startAt = world.uploadsStartAt();
  if (startAt !== null) return setback(outsideWindow(startAt - world.clock.now()));
  const missing = await check(row.facts, world);
  if (missing !== null) return setback(missing);
  const said = await world.local.checksums(row.facts);
  if (!said.ok) return setback(said.failure);
  const before = row.facts;
  await row.write({ uploadStartedAt: row.facts.uploadStartedAt ?? world.clock.now() });
  // It counts as under way from here on, however long its first bytes take.
  world.onProgress(row.facts, 0);
  let isOther = false;
  let mismatch: Failure | null = null;
  const alsoHash = alsoNeeded(said.value);
  row.sends();
  const answer = await world.host.send(row.facts, {
    signal,
    alsoHash,
    isFirstUse: before.uploadStartedAt === null,
    onProgress: (sentBytes) => world.onProgress(row.facts, sentBytes),
    beforeLastPart: async (sha256, also) => {
      isOther = row.facts.sha256 !== null && row.facts.sha256 !== sha256;
      if (isOther) throw new Error('the file has other content than the one that was sent before');
      const proven = await proveContent(row.facts, { ...also, sha256 }, signal, world);
      mismatch = proven.mismatch;
      if (mismatch !== null) throw new Error(mismatch.message);
      // A worker that lost the file to another host must not complete its upload.
      await row.confirm();
      await row.write({ sha256, ...proven.learned });
    },
  });
  if (isOther) return setback(unconfirmed('it has other content now'));
  if (answer.ok) return arrived(row, { sha256: answer.value.sha256, remoteStatus: 'processing' }, world);
  const failure: Failure = mismatch ?? answer.failure;
  // Whether the file or its whole folder is missing only a look at both tells; and an earlier body of it may have arrived.
  if (isAway(failure)) return setback((await check(row.facts, world)) ?? backAgain);
  // The whole folder may be closed, which is not this file's failure.
  if (failure.code === ('unreadable' satisfies ReasonCode)) return setback((await check(row.facts, world)) ?? failure);
  if (failure.code === webPageCode || failure.code === 'no_answer') return mayBeThere(row.facts, before, failure);
  const { sha256 } = before;
  // What was refused has not arrived. An earlier body may have.
  const isDead = failure.kind === 'address dead';
  if (isDead || failure.code === refusedAddressesCode) {
    await row.write({ sha256, addressDeadAt: world.clock.now() }, isDead ? failure.message : undefined);
    // The measurement begins.
    world.deadMs(row.facts);
  }
  if (!isDead) return setback(failure);
  // The service may be slow to show an earlier body: it is asked once more before the file gets another record.
  if (isSentAgain(before) && mayHaveArrived(row.facts)) return setback(sentAgainAfter(addressGraceMs));
  return setback({ ...failure, retryAfterMs: addressGraceMs });
}

/**
 * All of the file left, and the answer proves nothing: the service gets time to show it before it is asked. After a second web page a
 * person is asked, because each costs a whole upload.
 */
function mayBeThere({ sha256 }: Facts, before: Facts, failure: Failure): Outcome {
  const isPage = failure.code === webPageCode && sha256 !== null;
  if (isPage && before.lastFailure?.code === webPageCode)
    return setback(notReceived(`the file was sent twice (${failure.message})`));
  if (sha256 === null) return setback(failure);
  return setback({ ...failure, retryAfterMs: Math.max(addressGraceMs, failure.retryAfterMs ?? 0) });
}

/** A person wants the file sent again, and the address takes nothing: it gets another record. This one is never deleted. */
async function giveUpOnRecord(row: Row): Promise<Outcome> {
  const { facts } = row;
  const videoId = facts.videoId ?? '';
  const change = { ...unbound, suspects: [...suspectsOf(facts), givenUpRecord(videoId)] };
  await row.write(change, `video ${videoId} may have all of the file and is kept; the file gets another record`);
  return { type: 'started over' };
}

/** The bytes are there, by our own answer or by the service's word. */
async function arrived(
  row: Row,
  learned: Pick<Partial<Facts>, 'sha256' | 'remoteStatus'>,
  world: UploadWorld,
): Promise<Outcome> {
  const now = world.clock.now();
  const change = { ...learned, uploadedAt: now, processingSince: now, addressDeadAt: null };
  await world.receipts.append('uploaded', { ...row.facts, ...change });
  await row.write(change);
  return { type: 'arrived' };
}

/**
 * The service does not know the video any more. If no complete body ever left this machine nothing can have been seen, and a
 * new record is in order; else an operator deleted it, and dropcast uploads nothing again (design 5.7). `adopt` of its folder counts likewise.
 */
async function lost(row: Row, failure: Failure, { store }: UploadWorld): Promise<Outcome> {
  const { sha256, videoId, replacements } = row.facts;
  if (sha256 !== null || (await isRecorded(row.facts, store))) return setback(failure);
  if (replacements >= mostReplacements) return setback(replacedTooOften);
  const note = `video ${videoId} disappeared before its upload was complete`;
  await row.write({ ...unbound, replacements: replacements + 1 }, note);
  return { type: 'started over' };
}

/** Still `pending` after the grace, and the address is dead: delete it until it is gone, then create a new one. */
async function replace(row: Row, deadMs: number, world: UploadWorld): Promise<Outcome> {
  // A `retry` by hand ends the backoff, not the grace.
  if (deadMs < addressGraceMs) return setback(stillInGrace(addressGraceMs - deadMs));
  // The only copy of the bytes is the local file: no delete without it.
  const missing = await check(row.facts, world);
  if (missing !== null) return setback(missing);
  const { videoId, replacements } = row.facts;
  if (replacements >= mostReplacements) return setback(replacedTooOften);
  const change = { dying: true, replacements: replacements + 1 };
  await world.receipts.append('dying', { ...row.facts, ...change });
  await row.write(change, `video ${videoId} is still empty: replacing it`);
  return { type: 'replacing' };
}

/**
 * Why the bytes cannot be sent, or null. If a whole body went out, its answer was lost, and the service does not show it yet,
 * then a missing or changed file must not end this video's way. When the service does not show it for all attempts, a
 * person is asked.
 */
async function check(facts: Facts, world: Pick<UploadWorld, 'local'>): Promise<Failure | null> {
  const missing = await world.local.check(facts);
  if (missing === null || !isAway(missing) || !mayHaveArrived(facts)) return missing;
  return unconfirmed(missing.message, missing.code);
}

const unconfirmed = (why: string, because?: string): Failure => ({
  kind: 'transient',
  code: unconfirmedCode,
  ...(because !== undefined && { because }),
  message: `the whole file was sent, the service does not show it yet, and it cannot be sent again: ${why}`,
});

const backAgain: Failure = {
  kind: 'transient',
  code: 'back_again',
  message: 'the file was missing for a moment and is back',
};

const outsideWindow = (waitMs: number): Failure => ({
  kind: 'throttled',
  code: outsideWindowCode,
  message: 'uploads may not start at this time of day (uploads.window)',
  // Each look at a file that was sent before is a request, and until the opening it may have arrived.
  retryAfterMs: Math.min(600_000, waitMs),
});

/** Of a file that may have arrived at an address that is dead by now: no byte can be sent there, and no other record is certain to be its first. */
function inDoubt(deadMs: number): Failure {
  if (deadMs >= doubtMs) return notConfirmed;
  return {
    kind: 'throttled',
    code: 'upload_address_dead',
    message:
      'all of the file may have arrived, but the service still says pending, and the upload address stopped working; dropcast keeps asking for a quarter of an hour',
    retryAfterMs: Math.max(addressGraceMs, deadMs),
  };
}

const notConfirmed: Reason = {
  kind: 'unclear',
  code: 'not_confirmed',
  message:
    'all of the file may have arrived, but the service says that nothing has (pending), and the upload address stopped working: look at the video on the service; `dropcast retry` sends the file to a new record',
};

const stillInGrace = (leftMs: number): Failure => ({
  kind: 'throttled',
  code: 'upload_address_dead',
  message: 'the service has not received the file; dropcast replaces its video if that stays so for a minute',
  retryAfterMs: leftMs,
});

const replacedTooOften: Reason = {
  kind: 'permanent',
  code: 'upload_address_dead',
  message: `the upload address stopped working ${mostReplacements + 1} times, each time with a new record`,
};
