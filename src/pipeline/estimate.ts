import { priorities } from './file/queue.ts';
import type { Line, QueuePosition } from './file/queue.ts';
import { begun, sendingMs } from './sending-time.ts';
import type { Speed } from './sending-time.ts';

/** The remaining work, as counts: of all waiting files, or of one file and those before it. */
export interface Backlog {
  /** Files without a record: each costs one create request. */
  readonly toCreate: number;
  /** Files with bytes still to send, including those without a record, and how many bytes. An import sends none. */
  readonly toSend: number;
  readonly bytesToSend: number;
  /** Files that the service is processing. */
  readonly processing: number;
  /** Ready files that wait for their feeds. */
  readonly toPublish: number;
  /** The number of feeds that these files go to. */
  readonly feeds: number;
}

/** The measured and configured speed. Times are milliseconds from now. */
export interface Pace extends Speed {
  /** Uploads at the same time. */
  readonly slots: number;
  readonly room: RequestRoom;
  /** How long the service usually takes to process a video; null: not known. */
  readonly processingMs: number | null;
  /** The interval between two polls. */
  readonly pollMs: number;
  /** When the budget makes polls rarer: the time of the next one, and the interval after it. Null: it does not. */
  readonly latePoll: LatePoll | null;
  /** How long no further file must become ready before a feed is published, and the longest wait of the first one. */
  readonly quietMs: number;
  readonly atMostMs: number;
}

/** Polls that the budget delays. */
export interface LatePoll {
  readonly inMs: number;
  readonly everyMs: number;
}

/** The requests that may be sent, and when. */
export interface RequestRoom {
  /** Requests per hour. */
  readonly limit: number;
  /** Requests that may be sent before any request of the last hour expires. */
  readonly left: number;
  /** How long the service asked us to send nothing; 0: no wait. */
  readonly closedMs: number;
  /** When requests of the last hour expire, earliest first. */
  readonly frees: readonly (readonly [inMs: number, requests: number])[];
}

/** The narrowest limit of the backlog. */
export type Limit =
  | 'upload bandwidth'
  | 'upload slots'
  | 'upload window'
  | 'request budget'
  | 'processing at the service'
  | 'publish quiet'
  | 'pause'
  | 'nothing';

export interface Estimate {
  readonly limitedBy: Limit;
  /** Milliseconds until everything is done; null when unknown. */
  readonly doneInMs: number | null;
  /** The number of requests needed. */
  readonly requests: number;
}

/**
 * Pure: what limits the files, and when they will be done. The stages run in parallel, so the total is the slower one
 * of sending and creating for all files, plus the remaining stages of the last one.
 *
 * @param isPaused everything waits, for an unknown time
 */
export function estimate(backlog: Backlog, pace: Pace, isPaused = false): Estimate {
  if (isEmpty(backlog)) return { limitedBy: 'nothing', doneInMs: 0, requests: 0 };
  const sentInMs = sendingMs(backlog.bytesToSend, pace);
  const requests = requestsOf(backlog, pace, readyInMs(sentInMs ?? 0, backlog, pace) + quietMsOf(backlog, pace));
  if (isPaused) return { limitedBy: 'pause', doneInMs: null, requests };
  const budgetMs = untilRoomMs(requests, pace.room);
  const limitedBy = limitOf(backlog, pace, { sentInMs, budgetMs });
  const doneInMs =
    sentInMs === null ? null : readyInMs(Math.max(sentInMs, budgetMs), backlog, pace) + quietMsOf(backlog, pace);
  return { limitedBy, doneInMs, requests };
}

function isEmpty({ toCreate, toSend, processing, toPublish }: Backlog): boolean {
  return toCreate + toSend + processing + toPublish === 0;
}

/** Milliseconds until dropcast knows that the last video is ready, after its bytes are sent. */
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

/** The requests for records, publishes and the polls in between, which take only what the others leave. */
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

/** The share that polls add to the other requests of a large batch. */
const pollShare = 0.015;

function hasToBeProcessed({ toCreate, toSend, processing }: Backlog): boolean {
  return toCreate + toSend + processing > 0;
}

/** A request counts for an hour, by counters of a minute. */
const windowMs = 61 * 60_000;

/** How long until the last of these requests may be sent. A request sent now makes room an hour later. */
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

/** When uploads already use the configured bandwidth, or no file waits for a slot, only a faster line helps. */
function uploadLimit({ toSend }: Backlog, { bytesPerSecond, bandwidth, slots }: Pace): Limit {
  const isFull = bandwidth !== null && (bytesPerSecond ?? bandwidth) >= 0.85 * bandwidth;
  if (!isFull && toSend > slots) return 'upload slots';
  // Files that wait for their next try, or have just started, are held up by no limit.
  return isFull || bytesPerSecond !== null ? 'upload bandwidth' : 'nothing';
}

/** Pure: milliseconds until the bytes of one upload are sent, at its share of the total speed. Null: not known. */
export function uploadedInMs(bytesLeft: number, bytesPerSecond: number | null, pace: Pace): number | null {
  if (bytesLeft === 0) return 0;
  if (bytesPerSecond === null) return null;
  const all = Math.max(bytesPerSecond, pace.bytesPerSecond ?? 0);
  return sendingMs(bytesLeft * (all / bytesPerSecond), begun({ ...pace, bytesPerSecond: all }));
}

/** The work that starts before a file. */
interface Ahead {
  /** Records that are created before its upload starts, including its own. */
  readonly creates: number;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Pure: roughly the work that starts before a file: everything more urgent, and as much of each other line of its
 * priority as of its own.
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

function startsBefore({ state, priority, folder, isBig, before }: QueuePosition, line: Line): number {
  if (line.state !== state) return state === 'queued' ? line.files : 0;
  if (line.priority !== priority)
    return priorities.indexOf(line.priority) < priorities.indexOf(priority) ? line.files : 0;
  return Math.min(line.files, line.folder === folder && line.isBig === isBig ? before : before + 1);
}

/**
 * Pure: milliseconds until a waiting file gets a slot; null: not known.
 *
 * @param uploads remaining bytes of each upload in progress
 */
export function startsInMs(ahead: Ahead, uploads: readonly number[], pace: Pace): number | null {
  const untilFirstEnds = uploads.length < pace.slots ? 0 : Math.min(...uploads) * pace.slots;
  const isSlotLeft = uploads.length + ahead.files < pace.slots;
  const sentInMs = sendingMs(isSlotLeft ? 0 : untilFirstEnds + ahead.bytes, pace);
  return sentInMs === null ? null : Math.max(sentInMs, untilRoomMs(ahead.creates, pace.room));
}
