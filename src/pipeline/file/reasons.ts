import { mayHaveArrived, suspectsOf, unbound } from './facts.ts';
import type { End, Facts } from './facts.ts';
import { tooLargeCode, triedAgainCode, unknownNameCodes } from './failure.ts';
import type { Failure } from './failure.ts';
import type { FolderConfig } from '../../config/config.ts';
import type { HoldCode } from '../../routing/plan.ts';

/**
 * dropcast's own codes for files that have ended until the operator retries them. Each has an entry in retry-rules.ts.
 */
export type ReasonCode =
  | HoldCode
  | 'flawed'
  | 'unreadable'
  | 'closed_directory'
  | 'existing'
  | 'ignored'
  | 'taken_back'
  | 'not_found'
  | 'processing_failed'
  | 'gave_up'
  | 'not_received'
  | 'not_confirmed'
  | 'video_id_taken'
  | 'import_in_doubt'
  | 'upload_address_dead'
  | 'over_size_limit';

/**
 * What happens to files that existed before the folder was watched, unless they are uploaded like all others.
 * `recorded`: the ledger is an older copy, and the operator recorded these files as uploaded.
 */
export type Leaving = Exclude<FolderConfig['existing'], 'upload'> | 'recorded';

/** Why a file ended, with one of dropcast's own codes. */
export interface Reason extends Failure {
  readonly code: ReasonCode;
}

/** Returns the reason for a video that the service reports as `failed`, including its message if there is one. */
export const remoteFailed = (message: string | undefined): Reason => ({
  kind: 'permanent',
  code: 'processing_failed',
  message:
    message === undefined
      ? 'the service could not process the video'
      : `the service could not process the video: ${message}`,
});

/** The fields of a file in which nothing has gone wrong so far. */
export const fresh = {
  end: null,
  why: null,
  endedAt: null,
  attempts: 0,
  replacements: 0,
  notBefore: null,
  lastFailure: null,
} as const satisfies Partial<Facts>;

/**
 * Marks a retry by the operator of a file that may have arrived completely, although the service still reports
 * `pending`.
 */
const sentAgain: Failure = {
  kind: 'transient',
  code: 'sent_again',
  message: 'retry: dropcast checks the service first, and sends the file again only if nothing has arrived',
};

/** Like `sentAgain`, for a file of which the upload host has a part. */
const continued: Failure = { ...sentAgain, message: 'retry: dropcast checks the service first' };

/**
 * Like `sentAgain`, for when a dead upload address blocks the upload. The wait helps with a service that is slow to
 * list new videos.
 * @param leftMs milliseconds until dropcast asks the service again
 */
export function sentAgainAfter(leftMs: number): Failure {
  const message =
    'retry: the upload address stopped working, but the whole file may have arrived; dropcast checks the service again, and if nothing has arrived by then, the file gets another record';
  return { ...sentAgain, kind: 'throttled', message, retryAfterMs: leftMs };
}

/** Exempts a file from the learned limit until the next refusal. `uploads.max_size` still applies. */
function triedAgain(triedAt: number): Failure {
  return {
    kind: 'transient',
    code: triedAgainCode,
    message: 'dropcast tries whether the service accepts a file of this size now',
    sizeLimit: { from: 'service', mostBytes: null, triedAt },
  };
}

/** Keeps a file past the learned limit through failures that come before the host has judged its size. */
export function stillTried({ lastFailure }: Pick<Facts, 'lastFailure'>): Pick<Failure, 'sizeLimit'> {
  const { sizeLimit } = lastFailure ?? {};
  return sizeLimit?.triedAt === undefined ? {} : { sizeLimit };
}

export function isSentAgain({ lastFailure }: Pick<Facts, 'lastFailure'>): boolean {
  return lastFailure?.code === sentAgain.code;
}

/** Whether the service reports that nothing has arrived although its upload address reported success. */
export function saysNothingArrived({ remoteStatus, uploadUrl, sha256, readyAt }: Facts): boolean {
  return remoteStatus === 'pending' && uploadUrl !== null && sha256 !== null && readyAt === null;
}

/**
 * Returns the change that restarts a file that has ended or is waiting. A failed video is deleted before it is replaced
 * (design 5.5); a video that was deleted on the service is forgotten. If the whole file may have arrived, dropcast asks
 * the service first.
 */
export function rearmed(facts: Facts, now: number): Partial<Facts> {
  const failure = facts.lastFailure?.over ?? facts.lastFailure;
  if (isTakenBack(facts)) return { ...fresh, ...unbound };
  if (facts.end === 'skipped' && !wasThereBefore(facts) && !isIgnored(facts))
    return { ...fresh, onDuplicate: 'upload' };
  if (facts.lastFailure?.code === tooLargeCode && facts.lastFailure.sizeLimit?.from === 'service')
    return { ...fresh, lastFailure: triedAgain(now) };
  if (failure?.kind === 'gone' || (failure?.kind === 'unclear' && facts.videoId === null)) {
    return { ...fresh, ...unbound, suspects: suspectsOf(facts), ...unpublished(facts) };
  }
  if (facts.remoteStatus === 'failed') return { ...fresh, dying: true };
  if (facts.uploadedAt === null) return { ...fresh, processingSince: null, ...withAnotherRecord(facts) };
  if (!saysNothingArrived(facts)) return { ...fresh, processingSince: now };
  const uploadStartedAt = facts.uploadStartedAt ?? now;
  return { ...fresh, uploadedAt: null, processingSince: null, uploadStartedAt, lastFailure: sentAgain };
}

/** Resets the publishing of a file that was done and is starting again. A moved file stays at its new path. */
function unpublished({ disposal }: Facts): Partial<Facts> {
  return { published: {}, amendment: null, disposal: disposal === 'moved' ? disposal : null };
}

/**
 * Decides whether a file gives up its record. Another file with the same content may have been uploaded in the
 * meantime, so a record that is certainly empty is given up: the create step looks for such a file. A record that may
 * have the whole file is only queried, never deleted, and an upload that its host can continue is continued.
 */
function withAnotherRecord(facts: Facts): Partial<Facts> {
  // A second retry does not undo the first.
  if (isSentAgain(facts)) return { lastFailure: sentAgain };
  if (facts.end === null || facts.videoId === null) return {};
  if (mayHaveArrived(facts)) return { lastFailure: sentAgain };
  const { uploadSession } = facts;
  if (uploadSession === null || !mayBeContinued(facts)) return { dying: true };
  // The next retry gives the record up unless the host confirms an offset again.
  return { lastFailure: continued, uploadSession: { ...uploadSession, offset: 0 } };
}

/** Whether the upload host had a part of a file that failed, and nothing is wrong with its record. */
function mayBeContinued({ end, dying, addressDeadAt, uploadSession, lastFailure }: Facts): boolean {
  const isAlive = end === 'failed' && !dying && addressDeadAt === null && lastFailure?.kind === 'transient';
  return isAlive && (uploadSession?.offset ?? 0) > 0;
}

/** Returns why a file ended, if its failure does not explain it. */
export function reasonOf(end: End, facts: Facts): string | null {
  const { lastFailure } = facts;
  if (end === 'done') return null;
  if (end === 'vanished' && isClosedDirectory(facts)) return 'dropcast may open the directory now, or it is gone';
  if (end === 'vanished' && lastFailure?.kind !== 'vanished') return 'the file is no longer there';
  if (end === 'superseded' && facts.uploadedAt !== null && facts.videoId !== null)
    return `the file changed after it was sent: video ${facts.videoId} has the earlier content; if that is incomplete, \`dropcast videos delete ${facts.videoId}\` deletes it`;
  if (end === 'superseded' && lastFailure?.kind !== 'changed') return 'the file has new content';
  return lastFailure?.message ?? null;
}

/** Reasons for holding or skipping a file that existed before dropcast watched its folder. */
export const leftFromBefore: Readonly<Record<Leaving, Reason>> = {
  ignore: {
    kind: 'permanent',
    code: 'existing',
    message: 'was in the folder before dropcast watched it (existing: ignore)',
  },
  adopt: {
    kind: 'permanent',
    code: 'existing',
    message: 'was in the folder before dropcast watched it; `dropcast adopt` shows whether the service already has it',
  },
  recorded: {
    kind: 'permanent',
    code: 'existing',
    message: 'recorded as uploaded by `dropcast adopt`, because the ledger was restored from an older copy',
  },
};

/** Whether a file or directory is held because dropcast has no permission to read it. */
export function isHeldUnread({ end, lastFailure }: Pick<Facts, 'end' | 'lastFailure'>): boolean {
  return end === 'held' && (lastFailure?.code === 'unreadable' || isClosedDirectory({ lastFailure }));
}

/** Whether a row is about a directory that dropcast has no permission to open, not about a file. */
export function isClosedDirectory({ lastFailure }: Pick<Facts, 'lastFailure'>): boolean {
  return (lastFailure?.over ?? lastFailure)?.code === ('closed_directory' satisfies ReasonCode);
}

/**
 * Whether a file is held because of its rules, sidecar, container or access rights. The intake found the cause, and no
 * step failed.
 */
export function isHeldByRules({ end, lastFailure }: Pick<Facts, 'end' | 'lastFailure'>): boolean {
  const codes: readonly (string | undefined)[] = [
    'no_rule',
    'sidecar',
    'flawed',
    'unreadable',
    'closed_directory',
  ] satisfies ReasonCode[];
  return end === 'held' && codes.includes(lastFailure?.code);
}

/** Whether a file is skipped because it existed before dropcast watched its folder. */
export function wasThereBefore({ end, lastFailure }: Pick<Facts, 'end' | 'lastFailure'>): boolean {
  return (end === 'skipped' || end === 'held') && lastFailure?.code === 'existing';
}

/** Returns the reason for a file that the operator does not want uploaded. `dropcast retry` uploads it anyway. */
export const ignoredBy = (who: string, { end, lastFailure }: Pick<Facts, 'end' | 'lastFailure'>): Reason => ({
  kind: 'permanent',
  code: 'ignored',
  message: `ignored by ${who}`,
  ...(end === 'held' && lastFailure !== null && { over: lastFailure }),
});

export function isIgnored({ end, lastFailure }: Pick<Facts, 'end' | 'lastFailure'>): boolean {
  return end === 'skipped' && lastFailure?.code === 'ignored';
}

/**
 * Returns the change to a row whose video the operator takes back. From now on only the DELETE may proceed.
 * @param message who takes it back, as a clause
 */
export function condemned({ videoId }: Pick<Facts, 'videoId'>, message: string) {
  const reason: Reason = { kind: 'permanent', code: 'taken_back', message };
  return { dying: true, lastFailure: reason, why: `${message}: its video ${videoId ?? ''} is being deleted` };
}

export function isTakenBack({ end, lastFailure }: Pick<Facts, 'end' | 'lastFailure'>): boolean {
  return end === 'skipped' && lastFailure?.code === ('taken_back' satisfies ReasonCode);
}

/** Whether the video of a file that was taken back may still be on the service. */
export function isBeingTakenBack(facts: Pick<Facts, 'end' | 'lastFailure' | 'dying'>): boolean {
  return isTakenBack(facts) && facts.dying;
}

/** Whether dropcast made the video of a finished file and knows what it sent. An adopted file was never compared. */
export function mayBeTakenBack({ end, sha256, sourceUrl }: Pick<Facts, 'end' | 'sha256' | 'sourceUrl'>): boolean {
  return end === 'done' && sha256 !== null && sourceUrl === null;
}

/**
 * Returns the change to a row whose video was taken back and is gone. The hash stays, so that a touched file with the
 * same content is not a new file.
 */
export function takenBack(facts: Facts): Partial<Facts> {
  const { lastFailure, sha256, videoId } = facts;
  const why = `${lastFailure?.message ?? ''}: its video ${videoId ?? ''} was deleted; \`dropcast retry\` uploads the file again`;
  return { ...unbound, ...unpublished(facts), sha256, why };
}

export function waitsForChannel({ plan, lastFailure, notBefore, end }: Facts): boolean {
  const isWaiting = end === null && notBefore !== null && plan !== null;
  return isWaiting && lastFailure?.code === unknownNameCodes.channel;
}

/** Returns the feed that a file is waiting for and the service does not have; null if there is none. */
export function missingFeed({ lastFailure }: Pick<Facts, 'lastFailure'>): string | null {
  return lastFailure?.code === unknownNameCodes.feed ? (lastFailure.feed ?? null) : null;
}

/**
 * Whether a file needs the operator: it failed, is held, is waiting for a channel or feed that the service does not
 * have, or is done but cannot be deleted or moved. This is the only definition; the ledger counts and selects by the
 * same rule in SQL (`needsPerson` in ledger/words.ts).
 *
 * @param file.local the state of its local file
 * @param file.code the code of its last failure
 */
export function needsPerson(file: {
  readonly state: string;
  readonly local: string | null;
  readonly code: string | null;
}): boolean {
  const { state, local, code } = file;
  if (state === 'failed' || state === 'held' || local === 'waiting') return true;
  return code !== null && code === namesOfWait[state];
}

/** For each state that waits for a missing name: the code that asks the operator to create that channel or feed. */
const namesOfWait: Readonly<Record<string, string | undefined>> = {
  retrying: unknownNameCodes.channel,
  'awaiting publish': unknownNameCodes.feed,
};

/**
 * Returns what holds a file again once the operator no longer ignores it; null if the file continues. Ignoring a file
 * does not settle questions for the operator, such as whether to upload a deleted video again.
 */
export function heldAgain({ lastFailure, plan }: Pick<Facts, 'lastFailure' | 'plan'>): Failure | null {
  const over = lastFailure?.over ?? null;
  const mended: readonly (string | undefined)[] = ['no_rule', 'sidecar', 'over_size_limit'] satisfies ReasonCode[];
  return plan !== null && mended.includes(over?.code) ? null : over;
}

/** Returns why the channel in the sidecar was not used; null if it was used or the sidecar has none. */
export function channelRefusal({ plan }: Pick<Facts, 'plan'>): string | null {
  if (plan?.refusedChannel === undefined) return null;
  return `the channel ${plan.refusedChannel} of its sidecar came too late: the video is in ${plan.channel}, and the service cannot move it`;
}

/**
 * Returns the facts of a file that the operator adopted as an existing video. dropcast asks the service about the video
 * once more. The content was never compared, so the local file stays.
 */
export function adopted(videoId: string, now: number): Partial<Facts> {
  return {
    ...fresh,
    why: 'adopted; dropcast checks once more that the service has the video',
    videoId,
    createdAt: now,
    uploadedAt: now,
    processingSince: now,
    remoteStatus: 'ready',
    disposal: 'kept',
  };
}

/**
 * Whether a file is being adopted, so that the only open question is whether the service has its video. Only then is
 * `disposal` already `kept` before the file ends.
 */
export function isBeingAdopted({ end, readyAt, disposal }: Pick<Facts, 'end' | 'readyAt' | 'disposal'>): boolean {
  return end === null && readyAt === null && disposal === 'kept';
}

/** The facts of a file that the operator adopted, but whose video no longer exists. */
export const notAdopted = {
  ...unbound,
  ...fresh,
  disposal: null,
  lastFailure: {
    kind: 'permanent',
    code: 'existing',
    message: 'the service no longer has its video ready: the file is compared again',
  },
} as const satisfies Partial<Facts>;

/** The reason for a file whose video was deleted on the service, which dropcast respects (design 5.7). */
export const deletedOnService: Reason = {
  kind: 'gone',
  code: 'not_found',
  message: 'the video was deleted on the service; `dropcast retry` uploads it again',
};

/** Returns the reason for a file that the service did not finish within `poll.give_up_after`. */
export function gaveUp(facts: Facts): Reason {
  if (saysNothingArrived(facts)) return notReceived('the file was sent');
  return {
    kind: 'permanent',
    code: 'gave_up',
    message: 'the service did not finish processing in time; `dropcast retry` waits again',
  };
}

/** @param what what was done, as the beginning of a sentence */
export function notReceived(what: string): Reason {
  return {
    kind: 'permanent',
    code: 'not_received',
    message: `${what}, but the service says that nothing has arrived (pending); \`dropcast retry\` checks again, then sends the file again`,
  };
}
