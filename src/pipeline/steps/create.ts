import { mayHaveArrived, suspectsOf, unbound } from '../file/facts.ts';
import type { Facts } from '../file/facts.ts';
import { isAway, stopped } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import { setback } from '../file/outcome.ts';
import type { Reason } from '../file/reasons.ts';
import type { Outcome } from '../file/outcome.ts';
import type { Answer, Budget, Clock, CreatedRecord, LocalFiles, Receipts, VideoHost } from '../file/ports.ts';
import type { CountStore } from '../file/selection.ts';
import type { Row } from '../file/rows.ts';
import type { Quota } from '../quota.ts';
import type { SizeLimits } from '../size-limits.ts';
import { bury, isRecorded, isUnsure } from './delete-video.ts';
import type { RecordedStore } from './delete-video.ts';
import { findTwin } from './duplicates.ts';
import type { TwinWorld } from './duplicates.ts';
import type { UnconfirmedCreates } from './unconfirmed-creates.ts';

export interface CreateWorld extends TwinWorld {
  readonly store: TwinWorld['store'] & CountStore & RecordedStore;
  /** Ids of videos whose rows are about to be written. */
  readonly binding: Set<string>;
  readonly host: VideoHost;
  readonly local: LocalFiles;
  readonly budget: Pick<Budget, 'take'>;
  readonly receipts: Receipts;
  readonly clock: Clock;
  readonly unconfirmed: UnconfirmedCreates;
  readonly sizeLimits: Pick<SizeLimits, 'whyNot'>;
  readonly quota: Pick<Quota, 'admit' | 'created'>;
  /** Returns a new token, never used before. */
  newToken(): string;
}

/**
 * The step from `queued` to `awaiting upload`. Refuses a file that is no longer the accepted one, finishes a deletion
 * in progress, and then creates the record. The request's token is stored durably beforehand and used only once (design
 * 5.2).
 *
 * @param row a file that is `queued`
 * @param signal ends waits; a create request in progress is never aborted
 * @throws any error from the ledger or the receipts
 */
export async function createRecord(row: Row, signal: AbortSignal, world: CreateWorld): Promise<Outcome> {
  const missing = await world.local.check(row.facts);
  if (missing !== null) {
    const isOnlyCopy = row.facts.dying && mayHaveArrived(row.facts) && isAway(missing);
    return isOnlyCopy ? keep(row, 'the local file is missing') : setback(missing);
  }
  const hadRecord = row.facts.dying;
  if (hadRecord) {
    // A video with status `failed` is replaced. Any other may have received the file after it was marked.
    if (mayHaveArrived(row.facts) && row.facts.remoteStatus !== 'failed')
      return keep(row, 'it may have the whole file');
    const isFull = await hasBytes(row.facts, signal, world);
    if (!isFull.ok) return setback(isFull.failure);
    if (isFull.value) return keep(row, 'the service has all of it');
    const remaining = await bury(row, signal, { ...world, priority: 'finish', note: 'deleted, to be replaced' });
    if (remaining !== null) return setback(remaining);
  }
  const { facts } = row;
  const tooLarge = world.sizeLimits.whyNot(facts);
  if (tooLarge !== null) return { type: 'needs a person', failure: tooLarge };
  // The service may refuse new videos; the old record was deleted before.
  const waits = hadRecord ? await world.local.check(facts) : null;
  if (waits !== null) return setback(waits);
  if (facts.sourceUrl !== null && facts.intent !== null) return setback(unclearImport);
  const twin = facts.onDuplicate === 'skip' && facts.sourceUrl === null ? await findTwin(facts, signal, world) : null;
  if (twin !== null) return setback(twin);
  const beyondQuota = await world.quota.admit(facts);
  if (beyondQuota !== null) return setback(beyondQuota);
  if (!(await world.unconfirmed.mayRisk())) return setback(tooManyUnconfirmed(world));
  if (!(await world.budget.take('create', signal))) return setback(stopped);
  // The wait for the request budget may have taken an hour.
  const missingNow = await world.local.check(facts);
  return missingNow === null ? ask(row, world) : setback(missingNow);
}

/** Whether the service has bytes that the row does not know about. */
async function hasBytes(facts: Facts, signal: AbortSignal, { host, store }: CreateWorld): Promise<Answer<boolean>> {
  const wasRecorded = await isRecorded(facts, store);
  if (!isUnsure(facts) && !wasRecorded) return { ok: true, value: false };
  const status = await host.status(facts.videoId ?? '', signal);
  if (status.ok) return { ok: true, value: status.value !== 'pending' && status.value !== 'failed' };
  return status.failure.kind === 'gone' && !wasRecorded ? { ok: true, value: false } : status;
}

/**
 * Cancels the deletion of a video, because only the service may have the bytes. The file returns to the state in which
 * its status is polled. No more bytes are sent to that video, since the service already has them or the address stays
 * dead, so a late DELETE cannot hit a second upload.
 */
async function keep(row: Row, why: string): Promise<Outcome> {
  await row.write({ dying: false }, `video ${row.facts.videoId} is kept: ${why}`);
  return { type: 'kept' };
}

async function ask(row: Row, world: CreateWorld): Promise<Outcome> {
  const token = world.newToken();
  const facts = await row.write({ intent: token, suspects: suspectsOf(row.facts) });
  // This request is never aborted: its answer is worth more than a quick exit, and the client has its own timeout.
  const answer = await world.host.create(facts, token, new AbortController().signal);
  if (!answer.ok) return unanswered(row, answer.failure);
  await world.quota.created(facts);
  const { videoId, uploadUrl } = answer.value;
  if (world.binding.has(videoId) || (await world.store.count({ videoId }, 1)) > 0) return refuseId(row, videoId);
  if (uploadUrl === null && facts.sourceUrl === null) return giveUp(row, answer.value, world);
  world.binding.add(videoId);
  return bind(row, answer.value, world).finally(() => world.binding.delete(videoId));
}

/**
 * Refuses a video id that belongs to another file, because bytes sent to it, or its deletion, would hit that file.
 * Caused by a restored service, or by a proxy that repeats an answer.
 */
async function refuseId(row: Row, videoId: string): Promise<Outcome> {
  await row.write({ intent: null, suspects: suspectsOf(row.facts) });
  return setback({
    kind: 'unclear',
    code: 'video_id_taken',
    message: `the service gave the file the id of another file's video (${videoId}), so nothing was sent: check the service, then run \`dropcast retry\``,
  } satisfies Reason);
}

/**
 * Marks a record without an upload address for deletion, because it is useless. Since its id is known, it can be
 * deleted before another record is created.
 */
async function giveUp(row: Row, { videoId, status }: CreatedRecord, { clock }: CreateWorld): Promise<Outcome> {
  const useless = { ...unbound, videoId, createdAt: clock.now(), remoteStatus: status, dying: true };
  await row.write(useless, `video ${videoId} has no upload address: replacing it`);
  return setback(noAddress);
}

/** Writes the receipt first, so that it still shows which file has which video if the ledger is lost. */
async function bind(
  row: Row,
  { videoId, uploadUrl, uploadHeaders = null, status }: CreatedRecord,
  world: CreateWorld,
): Promise<Outcome> {
  const now = world.clock.now();
  const isImport = row.facts.sourceUrl !== null;
  const bound = {
    ...unbound,
    videoId,
    uploadUrl: isImport ? null : uploadUrl,
    uploadHeaders: isImport ? null : uploadHeaders,
    createdAt: now,
    remoteStatus: status,
    // An import needs no upload, because the service fetches the file.
    ...(isImport && { uploadedAt: now, processingSince: now }),
  };
  try {
    await world.receipts.append('bound', { ...row.facts, ...bound });
  } finally {
    // The row is written even if the receipt cannot be; otherwise each try would leave an empty record.
    await row.write(bound, `video ${videoId}`);
  }
  return { type: isImport ? 'imported' : 'bound' };
}

/**
 * Handles a create request without a usable answer. If it was refused or never sent, its token has no record. If it is
 * in doubt, the token becomes a suspect, and an import waits for the operator.
 */
async function unanswered(row: Row, failure: Failure): Promise<Outcome> {
  if (failure.inDoubt !== true) await row.write({ intent: null });
  else if (row.facts.sourceUrl === null) await row.write({ intent: null, suspects: suspectsOf(row.facts) });
  return setback(failure);
}

const noAddress: Failure = {
  kind: 'transient',
  code: 'no_upload_url',
  message: 'the service created a record but returned no upload address',
};

const unclearImport: Reason = {
  kind: 'unclear',
  code: 'import_in_doubt',
  message: 'the import request got no answer, so the video may exist: check the service, then run `dropcast retry`',
};

const tooManyUnconfirmed = ({ unconfirmed, clock }: CreateWorld): Failure => ({
  kind: 'throttled',
  code: 'creates_in_doubt',
  message: 'too many create requests in the last hour got no usable answer; waiting, to avoid more empty records',
  retryAfterMs: Math.max(0, (unconfirmed.waitUntil() ?? 0) - clock.now()),
});
