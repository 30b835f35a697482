import { findTwin } from './duplicates.ts';
import { mayHaveArrived, suspectsOf, unbound } from '../file/facts.ts';
import type { Facts } from '../file/facts.ts';
import { isAway, stopped } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import type { Outcome } from '../file/machine.ts';
import type { Budget, Clock, FileStore, LocalFiles, Receipts, VideoHost } from '../file/ports.ts';

export interface CreateWorld {
  readonly store: FileStore;
  readonly host: VideoHost;
  readonly local: LocalFiles;
  readonly budget: Budget;
  readonly receipts: Receipts;
  readonly clock: Clock;
  newToken(): string;
  /** Says whether one more create request may stay without an answer in this hour (design 5.2). */
  mayDoubt(): boolean;
  noteDoubt(): void;
}

/**
 * The step from `queued` to `awaiting upload`: refuse what is not the accepted file, finish a deletion under way, then
 * create the record under a token that is durable before the request and used for one request only (design 5.2).
 */
export async function createRecord(facts: Facts, signal: AbortSignal, world: CreateWorld): Promise<Outcome> {
  const missing = await world.local.check(facts);
  if (missing !== null) {
    const isOnlyCopy = facts.dying && mayHaveArrived(facts) && isAway(missing);
    return isOnlyCopy ? spare(facts, world) : { facts, failure: missing };
  }
  if (facts.dying) {
    const buried = await bury(facts, signal, world);
    if (buried.failure !== null) return buried;
    facts = buried.facts;
  }
  if (facts.sourceUrl !== null && facts.intent !== null) return { facts, failure: unclearImport };
  const twin = facts.onDuplicate === 'skip' && facts.sourceUrl === null ? await findTwin(facts, signal, world) : null;
  if (twin !== null) return { facts, failure: twin };
  if (!world.mayDoubt()) return { facts, failure: tooManyDoubts };
  if (!(await world.budget.take('create', signal))) return { facts, failure: stopped };
  // The budget may have been waited for an hour.
  const missingNow = await world.local.check(facts);
  return missingNow === null ? ask(facts, world) : { facts, failure: missingNow };
}

/**
 * The bytes may be on the service alone: nothing is deleted there. The file goes back to where its status
 * is asked. No byte is sent there any more, for the address stays dead, so a DELETE that comes late can hit no second upload.
 */
async function spare(facts: Facts, world: CreateWorld): Promise<Outcome> {
  const note = `video ${facts.videoId} is kept: the local file is away`;
  return { facts: await world.store.save({ ...facts, dying: false }, note), failure: null };
}

async function ask(before: Facts, world: CreateWorld): Promise<Outcome> {
  const token = world.newToken();
  const facts = await world.store.save({ ...before, intent: token, suspects: suspectsOf(before) });
  // Nothing cuts this request: an answer on its way is worth more than a quick exit, and the client has its own timeout.
  const answer = await world.host.create(facts, token, neverAborted());
  if (!answer.ok) return { facts: await settle(facts, answer.failure, world), failure: answer.failure };
  const { videoId, uploadUrl, status } = answer.value;
  if (uploadUrl === null && facts.sourceUrl === null) {
    world.noteDoubt();
    return {
      facts: await world.store.save({ ...facts, intent: null, suspects: suspectsOf(facts) }),
      failure: noAddress,
    };
  }
  const now = world.clock.now();
  const bound: Facts = {
    ...facts,
    ...unbound,
    videoId,
    uploadUrl,
    createdAt: now,
    remoteStatus: status,
    // An import has no upload of ours: the service fetches by itself.
    ...(facts.sourceUrl !== null && { uploadUrl: null, uploadedAt: now, processingSince: now }),
  };
  await world.receipts.append('bound', bound);
  return { facts: await world.store.save(bound, `video ${videoId}`), failure: null };
}

/** Refused or never sent: the token was used for nothing. In doubt: it becomes a suspect, and an import waits for a person. */
async function settle(facts: Facts, failure: Failure, world: CreateWorld): Promise<Facts> {
  if (failure.inDoubt !== true) return world.store.save({ ...facts, intent: null });
  world.noteDoubt();
  if (facts.sourceUrl !== null) return facts;
  return world.store.save({ ...facts, intent: null, suspects: suspectsOf(facts) });
}

function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

/**
 * Ends a video that will be replaced: only after the service says it is away may another one be created, else a late DELETE
 * or a late PUT could hit the wrong one (design 5.5; without this mark an exhaustive model of the protocol loses a file).
 */
export async function bury(
  facts: Facts,
  signal: AbortSignal,
  world: Pick<CreateWorld, 'host' | 'store'>,
): Promise<Outcome> {
  const videoId = facts.videoId;
  if (videoId === null) return { facts: await world.store.save({ ...facts, ...unbound }), failure: null };
  const removed = await world.host.remove(videoId, signal);
  if (!removed.ok) return { facts, failure: removed.failure };
  const status = await world.host.status(videoId, signal);
  if (status.ok) return { facts, failure: stillThere(videoId) };
  if (status.failure.kind !== 'gone') return { facts, failure: status.failure };
  return {
    facts: await world.store.save({ ...facts, ...unbound }, `video ${videoId} deleted, to be replaced`),
    failure: null,
  };
}

const stillThere = (videoId: string): Failure => ({
  kind: 'transient',
  code: 'still_there',
  message: `the service still knows video ${videoId} after it was deleted`,
});

const noAddress: Failure = {
  kind: 'transient',
  code: 'no_upload_url',
  message: 'the service created a record but gave no upload address',
};

const unclearImport: Failure = {
  kind: 'unclear',
  code: 'import_in_doubt',
  message: 'the import was asked for, but no answer came: look at the service, then `dropcast retry` asks again',
};

const tooManyDoubts: Failure = {
  kind: 'throttled',
  code: 'creates_in_doubt',
  message: 'too many create requests of the last hour had no usable answer: waiting, so as not to litter the account',
  retryAfterMs: 60_000,
};
