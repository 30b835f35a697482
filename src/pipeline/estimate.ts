import { priorities } from './file/queue.ts';
import type { Line, QueuePosition } from './file/queue.ts';
import { begun, sendingMs } from './sending-time.ts';
import type { Speed } from './sending-time.ts';

/** The remaining work as counts, for all waiting files or for one file and those before it. */
export interface Backlog {
  /** Files without a record; each costs one create request. */
  readonly toCreate: number;
  /**
   * Files with bytes still to send, including those without a record, and the number of bytes. Imports are not counted,
   * because they send none.
   */
  readonly toSend: number;
  readonly bytesToSend: number;
  readonly processing: number;
  /** Ready files that are waiting for their feeds. */
  readonly toPublish: number;
  readonly feeds: number;
}

/** The measured and configured speed. Times are milliseconds from now. */
export interface Pace extends Speed {
  readonly slots: number;
  readonly room: RequestRoom;
  /** The rest of `service.quota`; null if there is none. */
  readonly quota: QuotaRoom | null;
  /** Usual processing time of a video on the service; null if not known. */
  readonly processingMs: number | null;
  readonly pollMs: number;
  /** If the budget delays polls: when the next one is due, and the interval after it. Null if it does not. */
  readonly latePoll: LatePoll | null;
  /**
   * `quietMs`: how long no further file must become ready before a feed is published. `atMostMs`: how long the first
   * ready file may wait.
   */
  readonly quietMs: number;
  readonly atMostMs: number;
}

export interface LatePoll {
  readonly inMs: number;
  readonly everyMs: number;
}

export interface RequestRoom {
  /** Requests per hour. */
  readonly limit: number;
  /** Requests that may be sent now, before any earlier request drops out of the hourly limit. */
  readonly left: number;
  /** How long the service has asked dropcast to send nothing; 0 for no wait. */
  readonly closedMs: number;
  /** When requests of the last hour stop counting, earliest first. */
  readonly frees: readonly (readonly [inMs: number, requests: number])[];
}

/** What may be created in a day or month. `Infinity`: no limit. */
export interface QuotaAmount {
  readonly videos: number;
  readonly bytes: number;
  readonly minutes: number;
}

/** The rest of a quota, and the time until the next day or month. */
export interface QuotaRoom {
  readonly left: QuotaAmount;
  readonly most: QuotaAmount;
  /** Usual duration of the files that wait; null if it is unknown. */
  readonly minutesPerVideo: number | null;
  readonly resetsInMs: number;
  readonly periodMs: number;
}

export type Limit =
  | 'upload bandwidth'
  | 'upload slots'
  | 'upload window'
  | 'request budget'
  | 'quota'
  | 'processing at the service'
  | 'publish quiet'
  | 'pause'
  | 'nothing';

export interface Estimate {
  readonly limitedBy: Limit;
  /** Milliseconds until everything is done; null when unknown. */
  readonly doneInMs: number | null;
  readonly requests: number;
}

/**
 * Estimates what limits the files and when they will be done. The stages run in parallel, so the total is the slower of
 * sending and creating for all files, plus the remaining stages of the last file. Pure.
 *
 * @param isPaused whether everything is waiting for an unknown time
 */
export function estimate(backlog: Backlog, pace: Pace, isPaused = false): Estimate {
  if (isEmpty(backlog)) return { limitedBy: 'nothing', doneInMs: 0, requests: 0 };
  const sentInMs = sendingMs(backlog.bytesToSend, pace);
  const requests = requestsOf(backlog, pace, readyInMs(sentInMs ?? 0, backlog, pace) + quietMsOf(backlog, pace));
  if (isPaused) return { limitedBy: 'pause', doneInMs: null, requests };
  const budgetMs = untilRoomMs(requests, pace.room);
  const quotaMs = untilQuotaMs(backlog, pace.quota);
  const limitedBy =
    quotaMs > Math.max(budgetMs, sentInMs ?? 0) ? 'quota' : limitOf(backlog, pace, { sentInMs, budgetMs });
  const doneInMs =
    sentInMs === null
      ? null
      : readyInMs(Math.max(sentInMs, budgetMs, quotaMs), backlog, pace) + quietMsOf(backlog, pace);
  return { limitedBy, doneInMs, requests };
}

function isEmpty({ toCreate, toSend, processing, toPublish }: Backlog): boolean {
  return toCreate + toSend + processing + toPublish === 0;
}

/** Returns milliseconds until dropcast knows that the last video is ready, after its bytes have been sent. */
function readyInMs(sentInMs: number, backlog: Backlog, { processingMs, pollMs, latePoll }: Pace): number {
  if (!hasToBeProcessed(backlog)) return sentInMs;
  const endsInMs = sentInMs + (processingMs ?? 0);
  if (latePoll === null) return endsInMs + pollMs;
  const { inMs, everyMs } = latePoll;
  return inMs + Math.max(0, Math.ceil((endsInMs - inMs) / everyMs)) * everyMs;
}

function quietMsOf({ feeds }: Backlog, { quietMs }: Pace): number {
  return feeds > 0 ? quietMs : 0;
}

/**
 * Returns the requests needed for records, publishes and the polls in between. Polls use only what the others leave.
 */
function requestsOf(backlog: Backlog, pace: Pace, durationMs: number): number {
  const { toCreate, feeds } = backlog;
  const publishes = feeds * Math.max(1, Math.ceil(durationMs / Math.max(1, pace.atMostMs)));
  const needed = toCreate + Math.min(publishes, Math.max(feeds, toCreate + backlog.toPublish + backlog.processing));
  if (!hasToBeProcessed(backlog)) return needed;
  const everyMs = pace.latePoll?.everyMs ?? pace.pollMs;
  const wanted = Math.max(1, Math.ceil(durationMs / Math.max(1, everyMs)));
  const kept = Math.max(2, Math.ceil(needed * pollShare));
  return needed + Math.min(wanted, Math.max(kept, Math.floor((pace.room.left - needed) / 2)));
}

/** Polls as a fraction of the other requests of a large batch. */
const pollShare = 0.015;

function hasToBeProcessed({ toCreate, toSend, processing }: Backlog): boolean {
  return toCreate + toSend + processing > 0;
}

/** Returns milliseconds until the quota has room for the last of these files. Pure. */
function untilQuotaMs({ toCreate, toSend, bytesToSend }: Backlog, quota: QuotaRoom | null): number {
  if (quota === null || toCreate === 0) return 0;
  const { left, most, minutesPerVideo, resetsInMs, periodMs } = quota;
  const bytesToCreate = toSend === 0 ? 0 : bytesToSend * Math.min(1, toCreate / toSend);
  const periods = Math.max(
    periodsOf(toCreate, left.videos, most.videos),
    periodsOf(bytesToCreate, left.bytes, most.bytes),
    periodsOf(toCreate * (minutesPerVideo ?? 0), left.minutes, most.minutes),
  );
  return periods === 0 ? 0 : resetsInMs + (periods - 1) * periodMs;
}

/** Returns how many periods after the present one an amount needs. */
function periodsOf(amount: number, left: number, most: number): number {
  return amount <= left ? 0 : Math.ceil((amount - left) / most);
}

/** How long a request counts: an hour, plus a minute because counters cover a minute each. */
const windowMs = 61 * 60_000;

/** Returns milliseconds until the last of these requests may be sent. A request sent now makes room an hour later. */
export function untilRoomMs(requests: number, { left, closedMs, frees, limit }: RequestRoom): number {
  if (requests === 0) return 0;
  const room: (readonly [number, number])[] = [[0, left], ...frees];
  let needed = requests;
  for (let at = 0; at < room.length; at += 1) {
    const [inMs, count] = room[at] ?? [0, 0];
    const taken = Math.min(needed, count);
    const leavesInMs = Math.max(inMs, closedMs);
    needed -= taken;
    if (needed === 0) return leavesInMs;
    if (taken > 0) room.push([leavesInMs + windowMs, taken]);
  }
  return (needed / Math.max(1, limit)) * windowMs;
}

function limitOf(
  backlog: Backlog,
  pace: Pace,
  { sentInMs, budgetMs }: { readonly sentInMs: number | null; readonly budgetMs: number },
): Limit {
  const processingMs = hasToBeProcessed(backlog) ? (pace.processingMs ?? 0) + pace.pollMs : 0;
  const isSent = backlog.toSend === 0;
  const uploadMs = isSent ? processingMs : (sentInMs ?? sendingMs(0, pace) ?? 0);
  if (budgetMs > uploadMs) return 'request budget';
  if (!isSent && !pace.mayStart) return 'upload window';
  if (!isSent && (sentInMs === null || sentInMs >= processingMs)) return uploadLimit(backlog, pace);
  if (processingMs === 0) return 'publish quiet';
  if (pace.latePoll !== null) return 'request budget';
  if (backlog.processing > 0) return 'processing at the service';
  return isSent ? 'nothing' : uploadLimit(backlog, pace);
}

/**
 * Returns which limit holds back uploads. If they already use the configured bandwidth, or no file is waiting for a
 * slot, only a faster connection helps.
 */
function uploadLimit({ toSend }: Backlog, { bytesPerSecond, bandwidth, slots }: Pace): Limit {
  const isFull = bandwidth !== null && (bytesPerSecond ?? bandwidth) >= 0.85 * bandwidth;
  if (!isFull && toSend > slots) return 'upload slots';
  // Files that are waiting for their next try, or have just started, are not held up by any limit.
  return isFull || bytesPerSecond !== null ? 'upload bandwidth' : 'nothing';
}

/**
 * Returns milliseconds until the bytes of one upload are sent, at its share of the total speed. Null: not known. Pure.
 */
export function uploadedInMs(bytesLeft: number, bytesPerSecond: number | null, pace: Pace): number | null {
  if (bytesLeft === 0) return 0;
  if (bytesPerSecond === null) return null;
  const all = Math.max(bytesPerSecond, pace.bytesPerSecond ?? 0);
  return sendingMs(bytesLeft * (all / bytesPerSecond), begun({ ...pace, bytesPerSecond: all }));
}

/** Work that starts before a given file. */
interface Ahead {
  /** Records created before the file's upload starts, including its own. */
  readonly creates: number;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Estimates the work ahead of a file: all urgent files, all lines of higher priority, and from each line of its own priority as many
 * files as are ahead of it in its line. Pure.
 */
export function filesAhead(place: QueuePosition, lines: readonly Line[]): Ahead {
  const ahead: Record<keyof Ahead, number> = { creates: place.state === 'queued' ? 1 : 0, files: 0, bytes: 0 };
  for (const line of lines) {
    const files = startsBefore(place, line);
    if (line.state === 'queued') ahead.creates += files;
    ahead.files += files;
    ahead.bytes += line.files === 0 ? 0 : (line.bytes / line.files) * files;
  }
  return ahead;
}

function startsBefore({ state, priority, folder, isBig, before, isUrgent }: QueuePosition, line: Line): number {
  if (line.state !== state) return state === 'queued' ? line.files : 0;
  if (line.isUrgent !== isUrgent) return line.isUrgent ? line.files : 0;
  if (line.priority !== priority)
    return priorities.indexOf(line.priority) < priorities.indexOf(priority) ? line.files : 0;
  return Math.min(line.files, line.folder === folder && line.isBig === isBig ? before : before + 1);
}

/**
 * Returns milliseconds until a waiting file gets a slot; null if not known. Pure.
 *
 * @param uploads remaining bytes of each upload in progress
 */
export function startsInMs(ahead: Ahead, uploads: readonly number[], pace: Pace): number | null {
  const untilFirstEnds = uploads.length < pace.slots ? 0 : Math.min(...uploads) * pace.slots;
  const isSlotLeft = uploads.length + ahead.files < pace.slots;
  const sentInMs = sendingMs(isSlotLeft ? 0 : untilFirstEnds + ahead.bytes, pace);
  return sentInMs === null ? null : Math.max(sentInMs, untilRoomMs(ahead.creates, pace.room));
}
