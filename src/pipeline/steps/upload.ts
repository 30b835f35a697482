import { alsoNeeded, compareChecksums } from '../file/checksums.ts';
import type { Checksum, Digests } from '../file/checksums.ts';
import { givenUpRecord, mayHaveArrived, suspectsOf, unbound } from '../file/facts.ts';
import type { Facts } from '../file/facts.ts';
import {
  differentFrom,
  isAway,
  outsideWindowCode,
  refusedAddressesCode,
  unconfirmedCode,
  webPageCode,
} from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import { setback } from '../file/outcome.ts';
import { isSentAgain, notReceived, sentAgainAfter } from '../file/reasons.ts';
import type { Reason, ReasonCode } from '../file/reasons.ts';
import type { Outcome } from '../file/outcome.ts';
import type { Clock, LocalFiles, Receipts, VideoHost } from '../file/ports.ts';
import type { Row } from '../file/rows.ts';
import type { UploadHosts } from '../upload-hosts.ts';
import type { SizeLimits } from '../size-limits.ts';
import { isRecorded } from './delete-video.ts';
import type { RecordedStore } from './delete-video.ts';
import { findTwin } from './duplicates.ts';
import type { TwinWorld } from './duplicates.ts';

export interface UploadWorld extends TwinWorld {
  readonly store: TwinWorld['store'] & RecordedStore;
  readonly host: VideoHost;
  readonly local: LocalFiles;
  readonly receipts: Receipts;
  readonly clock: Clock;
  readonly uploadHosts: Pick<UploadHosts, 'believe' | 'isSpared' | 'takesNewAddress'>;
  readonly sizeLimits: Pick<SizeLimits, 'refused' | 'accepted'>;
  /** When the timetable allows uploads again (epoch milliseconds); null if they may start now. */
  uploadsStartAt(): number | null;
  /** Runs the create step: deletes the record of a row that is `dying` and creates another one. */
  renew(row: Row, signal: AbortSignal): Promise<Outcome>;
  /**
   * Returns how long a file's upload address has been dead, in milliseconds on the monotonic clock. A wall clock that
   * jumps ahead must not end the wait for a body that may have arrived.
   */
  deadMs(facts: Facts): number;
  /** Receives the number of bytes sent so far; 0 when the upload starts. */
  onProgress(facts: Facts, sentBytes: number): void;
  /** Receives the number of bytes that an upload does not send again. */
  onResumed(facts: Facts, offset: number): void;
}

/**
 * Grace period before the video of a dead upload address is replaced. The service may still be receiving the bytes of a
 * PUT whose answer was lost (design 5.5).
 */
export const addressGraceMs = 60_000;

/**
 * How long dropcast keeps asking the service about a body that may have arrived at an address that is now dead. After
 * that the file needs the operator.
 */
export const doubtMs = 15 * 60_000;

/** Maximum number of times a file's video is replaced before the file needs the operator. */
const mostReplacements = 3;

/**
 * The step from `awaiting upload` to `processing`. dropcast asks the service before it **repeats** a PUT: only a video
 * that is still `pending` may receive another PUT, at the same address (design 5.4).
 *
 * @param row a file that is `awaiting upload`
 * @param signal aborts the upload
 * @throws any error from the ledger or the receipts
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
    // A copy of the file may have been uploaded in the meantime.
    const twin = await findTwin(row.facts, signal, world);
    if (twin !== null && !mayHaveArrived(row.facts)) return withoutRecord(row, twin, world);
    if (twin?.kind === 'duplicate') return setback(twin);
  }
  if (addressDeadAt === null || world.uploadHosts.isSpared(row.facts)) return trySending(row, signal, world);
  const deadMs = world.deadMs(row.facts);
  if (!mayHaveArrived(row.facts)) return replace(row, deadMs, world);
  if (!isSentAgain(row.facts)) return setback(inDoubt(deadMs));
  return deadMs < addressGraceMs ? setback(sentAgainAfter(addressGraceMs - deadMs)) : giveUpOnRecord(row);
}

/**
 * Sends a file. If it is the one that tests whether its host still refuses every new address, and its own address may
 * have expired, it gets a new record first. That is not the file's fault, so it does not count as a replacement.
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
  // The window may have closed while the file waited for a slot, or before it is sent a second time.
  const startAt = world.uploadsStartAt();
  if (startAt !== null) return setback(outsideWindow(startAt - world.clock.now()));
  const missing = await check(row.facts, world);
  if (missing !== null) return setback(missing);
  const said = await world.local.checksums(row.facts);
  if (!said.ok) return setback(said.failure);
  const before = row.facts;
  await row.write({ uploadStartedAt: row.facts.uploadStartedAt ?? world.clock.now() });
  // From here on the upload counts as in progress, even if its first bytes are slow to leave.
  world.onProgress(row.facts, 0);
  let isOther = false;
  let mismatch: Failure | null = null;
  let hasSession = false;
  const alsoHash = alsoNeeded(said.value);
  row.sends();
  const answer = await world.host.send(row.facts, {
    signal,
    alsoHash,
    isFirstUse: before.uploadStartedAt === null,
    onProgress: (sentBytes) => world.onProgress(row.facts, sentBytes),
    onSession: async (session) => {
      // An upload that advances has not failed repeatedly.
      const hasAdvanced = session.offset > (row.facts.uploadSession?.offset ?? 0);
      await row.write({ uploadSession: session, ...(hasAdvanced && { attempts: 0 }) });
      if (!hasSession && session.offset > 0) world.onResumed(row.facts, session.offset);
      hasSession = true;
    },
    beforeLastPart: async (sha256, also) => {
      isOther = row.facts.sha256 !== null && row.facts.sha256 !== sha256;
      if (isOther) throw new Error('the file differs from the one that was sent before');
      const proven = await proveContent(row.facts, { ...also, sha256 }, signal, world);
      mismatch = proven.mismatch;
      if (mismatch !== null) throw new Error(mismatch.message);
      // A worker that lost the file to another host must not complete the upload.
      await row.confirm();
      await row.write({ sha256, ...proven.learned });
    },
  });
  if (isOther) return setback(unconfirmed('its content has changed'));
  if (answer.ok) return arrived(row, { sha256: answer.value.sha256, remoteStatus: 'processing' }, world);
  const failure: Failure = mismatch ?? answer.failure;
  // Only checking both the file and its folder shows which of them is missing. An earlier body may have arrived.
  if (isAway(failure)) return setback((await check(row.facts, world)) ?? backAgain);
  // The whole folder may be inaccessible, which is not this file's fault.
  if (failure.code === ('unreadable' satisfies ReasonCode)) return setback((await check(row.facts, world)) ?? failure);
  if (failure.code === webPageCode || failure.code === 'no_answer') return mayBeThere(row.facts, before, failure);
  if (failure.sizeLimit !== undefined && (await world.sizeLimits.refused(row.facts, failure)))
    return mayHaveArrived(before) ? setback(failure) : withoutRecord(row, failure, world);
  const { sha256 } = before;
  // A refused body has not arrived, but an earlier one may have.
  const isDead = failure.kind === 'address dead';
  if (isDead || failure.code === refusedAddressesCode) {
    await row.write({ sha256, addressDeadAt: world.clock.now() }, isDead ? failure.message : undefined);
    // This call starts measuring how long the address has been dead.
    world.deadMs(row.facts);
  }
  if (!isDead) return setback(failure);
  // The service may be slow to show an earlier body, so dropcast asks once more before the file gets another record.
  if (isSentAgain(before) && mayHaveArrived(row.facts)) return setback(sentAgainAfter(addressGraceMs));
  return setback({ ...failure, retryAfterMs: addressGraceMs });
}

/**
 * Compares a body, whose last part has not been sent yet, with the checksums that its sender supplies at this moment. A
 * checksum that arrived during the upload may need a digest that was not computed; the file is then read once more.
 *
 * @returns why the last part must not be sent; null if no checksum contradicts it
 * @throws when the file cannot be read, because it is then unknown whether it is the right one
 */
async function proveContent(
  facts: Facts,
  digests: Digests,
  signal: AbortSignal,
  { local }: Pick<UploadWorld, 'local'>,
): Promise<{ readonly mismatch: Failure | null; readonly learned: Pick<Partial<Facts>, 'plan'> }> {
  const said = await local.checksums(facts);
  if (!said.ok) return { mismatch: said.failure, learned: {} };
  const verdict = compareChecksums(said.value, digests);
  if (verdict.is === 'different') return { mismatch: differentFrom(verdict.checksum, digests), learned: {} };
  if (verdict.is !== 'unknown') return { mismatch: null, learned: withProofs(facts, said.value) };
  const hash = await local.hash(facts, signal, verdict.needs);
  if (!hash.ok) return { mismatch: hash.failure, learned: {} };
  return proveContent(facts, { ...digests, [verdict.needs]: hash.value }, signal, { local });
}

/** Adds to the plan the checksum files that belong to this file alone and move with it. */
function withProofs({ plan }: Facts, checksums: readonly Checksum[]): Pick<Partial<Facts>, 'plan'> {
  const own = checksums.filter(({ goesWithIt }) => goesWithIt).map(({ from }) => from);
  if (plan === null || own.length === 0) return {};
  const others = (plan.proofs ?? []).filter(({ path }) => !own.some((proof) => proof.path === path));
  return { plan: { ...plan, proofs: [...others, ...own] } };
}

/**
 * Handles a file whose record stays empty, because its host refused the size or a file with the same content came first.
 * The create step deletes the record, and then holds or skips the file, or lets it wait.
 */
async function withoutRecord(row: Row, { message }: Failure, world: UploadWorld): Promise<Outcome> {
  // A refused body has not arrived.
  const change = { sha256: null, dying: true };
  await world.receipts.append('dying', { ...row.facts, ...change });
  await row.write(change, `video ${row.facts.videoId} stays empty, and is deleted: ${message}`);
  return { type: 'replacing' };
}

/**
 * Handles an answer that proves nothing after the whole file was sent: the service gets time to show the video before
 * dropcast asks. A second web page needs the operator, because each one costs a whole upload.
 */
function mayBeThere({ sha256 }: Facts, before: Facts, failure: Failure): Outcome {
  const isPage = failure.code === webPageCode && sha256 !== null;
  if (isPage && before.lastFailure?.code === webPageCode)
    return setback(notReceived(`the file was sent twice (${failure.message})`));
  if (sha256 === null) return setback(failure);
  return setback({ ...failure, retryAfterMs: Math.max(addressGraceMs, failure.retryAfterMs ?? 0) });
}

/**
 * Gives the file another record when the operator retries it and its address accepts nothing. The old record is never
 * deleted.
 */
async function giveUpOnRecord(row: Row): Promise<Outcome> {
  const { facts } = row;
  const videoId = facts.videoId ?? '';
  const change = { ...unbound, suspects: [...suspectsOf(facts), givenUpRecord(videoId)] };
  await row.write(change, `video ${videoId} may have the whole file and is kept; the file gets another record`);
  return { type: 'started over' };
}

/** Records that the service has the bytes, according to its answer to the PUT or the video's status. */
async function arrived(
  row: Row,
  learned: Pick<Partial<Facts>, 'sha256' | 'remoteStatus'>,
  world: UploadWorld,
): Promise<Outcome> {
  if (learned.remoteStatus !== 'failed') await world.sizeLimits.accepted(row.facts);
  const now = world.clock.now();
  const change = { ...learned, uploadedAt: now, processingSince: now, addressDeadAt: null, uploadSession: null };
  await world.receipts.append('uploaded', { ...row.facts, ...change });
  await row.write(change);
  return { type: 'arrived' };
}

/**
 * Handles a video that the service no longer knows. If no complete body ever left this machine, no viewer can have seen
 * the video, and the file gets a new record. Otherwise an operator deleted the video, and dropcast does not upload it
 * again (design 5.7). A file whose folder was recorded as uploaded by `adopt` is treated the same way.
 */
async function lost(row: Row, failure: Failure, { store }: UploadWorld): Promise<Outcome> {
  const { sha256, videoId, replacements } = row.facts;
  if (sha256 !== null || (await isRecorded(row.facts, store))) return setback(failure);
  if (replacements >= mostReplacements) return setback(replacedTooOften);
  const note = `video ${videoId} disappeared before its upload was complete`;
  await row.write({ ...unbound, replacements: replacements + 1 }, note);
  return { type: 'started over' };
}

/**
 * Replaces a video that is still `pending` after the grace period and whose address is dead: marks it for deletion,
 * after which a new one is created.
 */
async function replace(row: Row, deadMs: number, world: UploadWorld): Promise<Outcome> {
  // A manual `retry` ends the backoff but not the grace period.
  if (deadMs < addressGraceMs) return setback(stillInGrace(addressGraceMs - deadMs));
  // The local file is the only copy of the bytes, so the video is not deleted without it.
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
 * Returns why the bytes cannot be sent, or null. If a whole body was sent, its answer was lost and its video has not
 * appeared, a missing or changed file must not end the life of the video. If the service does not show the video within
 * all attempts, the file needs the operator.
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
  // Checking a file that was sent before costs a request, but the file may have arrived before the window opens.
  retryAfterMs: Math.min(600_000, waitMs),
});

/**
 * Returns the failure of a file that may have arrived at an address that is now dead. The address accepts no more
 * bytes, and another record could become a second copy.
 */
function inDoubt(deadMs: number): Failure {
  if (deadMs >= doubtMs) return notConfirmed;
  return {
    kind: 'throttled',
    code: 'upload_address_dead',
    message:
      'the whole file may have arrived, but the service still says pending, and the upload address stopped working; dropcast keeps checking for 15 minutes',
    retryAfterMs: Math.max(addressGraceMs, deadMs),
  };
}

const notConfirmed: Reason = {
  kind: 'unclear',
  code: 'not_confirmed',
  message:
    'the whole file may have arrived, but the service says that nothing has (pending), and the upload address stopped working: check the video on the service; `dropcast retry` sends the file to a new record',
};

const stillInGrace = (leftMs: number): Failure => ({
  kind: 'throttled',
  code: 'upload_address_dead',
  message: 'the service has not received the file; dropcast replaces its video if this lasts for a minute',
  retryAfterMs: leftMs,
});

const replacedTooOften: Reason = {
  kind: 'permanent',
  code: 'upload_address_dead',
  message: `the upload address stopped working ${mostReplacements + 1} times, each time with a new record`,
};
