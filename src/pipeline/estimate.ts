import { priorities } from './file/queue.ts';
import type { Line, Place } from './file/queue.ts';
import { begun, sendingMs } from './sending-time.ts';
import type { Speed } from './sending-time.ts';

/** What is left to do, as counts: of all files that wait, or of one file and those before it. */
export interface Backlog {
  /** Files without a record: each costs one create request. */
  readonly toCreate: number;
  /** Files of which bytes are still to be sent, those without a record included, and how many bytes. An import sends none. */
  readonly toSend: number;
  readonly bytesToSend: number;
  /** Files that the service processes now. */
  readonly processing: number;
  /** Files that are ready and wait for their feeds. */
  readonly toPublish: number;
  /** Feeds that these files go to. */
  readonly feeds: number;
}

/** How fast it goes. Times are milliseconds from now. */
export interface Pace extends Speed {
  /** Uploads at the same time. */
  readonly slots: number;
  readonly room: RequestRoom;
  /** How long the service usually processes a video; null: not known. */
  readonly processingMs: number | null;
  /** Between two questions how far the videos are. */
  readonly pollMs: number;
  /** Where the budget makes the questions rarer: when the next one is, and how often from then on. Null: it does not. */
  readonly latePoll: LatePoll | null;
  /** How long no further file became ready before a feed is published, and how long the first may wait at most. */
  readonly quietMs: number;
  readonly atMostMs: number;
}

/** Questions that the budget puts off. */
export interface LatePoll {
  readonly inMs: number;
  readonly everyMs: number;
}

/** Requests that may leave, and when. */
export interface RequestRoom {
  /** Requests per hour. */
  readonly limit: number;
  /** Requests that may leave before any of the last hour fall out of it. */
  readonly left: number;
  /** Nothing leaves before: the service asked to wait. 0: open. */
  readonly closedMs: number;
  /** When requests of the last hour fall out of it, earliest first. */
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
  /** Until all is done, in milliseconds; null when it cannot be said. */
  readonly doneInMs: number | null;
  /** Requests that it takes. */
  readonly requests: number;
}

/**
 * Pure: what holds the files up, and when they are done. Files go through the stages side by side, so all of them take as long as the
 * slowest of sending and creating takes for all, and then what the last one still has before it.
 *
 * @param isPaused everything waits, nobody knows how long
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

/** Until it is known that the last video is ready, once its bytes are sent. */
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

/** Records, publishes, and the questions meanwhile, which take only what the others leave. */
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

/** In a large batch, questions how far the videos are add this share to the other requests. */
const pollShare = 0.015;

function hasToBeProcessed({ toCreate, toSend, processing }: Backlog): boolean {
  return toCreate + toSend + processing > 0;
}

/** A request counts for an hour, by counters of a minute. */
const windowMs = 61 * 60_000;

/** How long until the last of these requests may leave. What leaves now is room again an hour later. */
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

/** At the configured bandwidth, or where no file waits for a slot, only the line can be faster. */
function uploadLimit({ toSend }: Backlog, { bytesPerSecond, bandwidth, slots }: Pace): Limit {
  const isFull = bandwidth !== null && (bytesPerSecond ?? bandwidth) >= 0.85 * bandwidth;
  if (!isFull && toSend > slots) return 'upload slots';
  // Files that wait for their next try, or have just begun, are held up by no limit.
  return isFull || bytesPerSecond !== null ? 'upload bandwidth' : 'nothing';
}

/** Pure: until the bytes of an upload are sent, in milliseconds. It keeps its share of the speed of all. Null: not known. */
export function uploadedInMs(bytesLeft: number, bytesPerSecond: number | null, pace: Pace): number | null {
  if (bytesLeft === 0) return 0;
  if (bytesPerSecond === null) return null;
  const all = Math.max(bytesPerSecond, pace.bytesPerSecond ?? 0);
  return sendingMs(bytesLeft * (all / bytesPerSecond), begun({ ...pace, bytesPerSecond: all }));
}

/** What starts before a file. */
interface Ahead {
  /** Records that are created before its upload starts, its own among them. */
  readonly creates: number;
  readonly files: number;
  readonly bytes: number;
}

/** Pure: what starts before a file, about: all that is more urgent, and of each line of its priority as much as of its own. */
export function filesAhead(place: Place, lines: readonly Line[]): Ahead {
  const ahead: Record<keyof Ahead, number> = { creates: place.state === 'queued' ? 1 : 0, files: 0, bytes: 0 };
  for (const line of lines) {
    const files = startsBefore(place, line);
    if (line.state === 'queued') ahead.creates += files;
    ahead.files += files;
    ahead.bytes += line.files === 0 ? 0 : (line.bytes / line.files) * files;
  }
  return ahead;
}

function startsBefore({ state, priority, folder, isBig, before }: Place, line: Line): number {
  if (line.state !== state) return state === 'queued' ? line.files : 0;
  if (line.priority !== priority)
    return priorities.indexOf(line.priority) < priorities.indexOf(priority) ? line.files : 0;
  return Math.min(line.files, line.folder === folder && line.isBig === isBig ? before : before + 1);
}

/**
 * Pure: until a file that waits has a slot, in milliseconds; null: not known.
 *
 * @param uploads bytes that each upload under way has left
 */
export function startsInMs(ahead: Ahead, uploads: readonly number[], pace: Pace): number | null {
  const untilFirstEnds = uploads.length < pace.slots ? 0 : Math.min(...uploads) * pace.slots;
  const isSlotLeft = uploads.length + ahead.files < pace.slots;
  const sentInMs = sendingMs(isSlotLeft ? 0 : untilFirstEnds + ahead.bytes, pace);
  return sentInMs === null ? null : Math.max(sentInMs, untilRoomMs(ahead.creates, pace.room));
}
