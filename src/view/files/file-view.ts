import type { LineRows } from '../../ledger/queues.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import { uploadedInMs } from '../../pipeline/estimate.ts';
import { type Facts, type FileState, feedsToPublish, stateOf } from '../../pipeline/file/facts.ts';
import { priorityOf } from '../../pipeline/file/queue.ts';
import { channelRefusal } from '../../pipeline/file/reasons.ts';
import type { Rows } from '../../pipeline/file/rows.ts';
import { causeKey } from '../../pipeline/file/selection.ts';
import type { FeedWait } from '../../pipeline/rounds/publish.ts';
import type { PollTrouble } from '../../pipeline/rounds/sweep.ts';
import type { LiveUpload } from '../../pipeline/steps/uploads.ts';
import { noneTakesWords, waitsElsewhere } from '../hosts/elsewhere-words.ts';
import type { FleetView } from '../hosts/fleet-view.ts';
import { workerOf } from '../hosts/host-view.ts';
import { paceOf } from '../outlook/pace.ts';
import { type StageOrEnd, stageOf } from '../stages.ts';
import { type Wait, fileWaitWords, filesFor } from '../waits.ts';
import { clockTime } from '../words/clock-time.ts';
import { type LineWorld, type Standings, type Standing, standingsOf, whyInLine } from './in-line.ts';
import { workStates } from './known-states.ts';
import { shownState } from './known-states.ts';

/** A file as shown to commands, the page and programs. Times are epoch milliseconds. Contains no secrets. */
export interface FileView {
  readonly id: string;
  readonly state: string;
  /** The displayed stage or end. A file waiting for a retry shows the stage it will resume. */
  readonly stage: StageOrEnd;
  /**
   * The fleet host that sent the file; until it is sent, the host working on it or the last one that did. Null on a
   * single host.
   */
  readonly host: string | null;
  /** Absolute path. */
  readonly path: string;
  readonly size: number;
  readonly sent: number | null;
  /** Current upload progress; null: not uploading. */
  readonly upload: {
    /** Null in the first second. */
    readonly bytes_per_second: number | null;
    /** When the upload stalled; null: it is progressing. */
    readonly stalled_since: number | null;
    /** When all bytes will be sent; null if unknown. */
    readonly done_at: number | null;
  } | null;
  /** The file's place in line; null: not in line. */
  readonly queue: {
    /** Files with the same folder, priority and size class that arrived earlier; at most 1,000 are counted. */
    readonly before: number;
    /** When the upload starts; null: unknown, and `why` has the reason. */
    readonly starts_at: number | null;
  } | null;
  /** Approximate time at which the service will have the video ready; null if unknown. */
  readonly ready_at: number | null;
  readonly rule: string | null;
  /** `high`, `normal` or `low`; null until a rule accepts the file. */
  readonly priority: string | null;
  readonly channel: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly publish: readonly string[];
  readonly published: Readonly<Record<string, number>>;
  readonly video_id: string | null;
  readonly remote_status: string | null;
  readonly source_url: string | null;
  readonly sha256: string | null;
  readonly attempts: number;
  readonly not_before: number | null;
  readonly why: string | null;
  readonly code: string | null;
  /** Key that selects all files stopped for the same reason. */
  readonly cause: string | null;
  readonly local: string | null;
  readonly times: {
    readonly discovered: number;
    readonly created: number | null;
    readonly upload_started: number | null;
    readonly uploaded: number | null;
    readonly ready: number | null;
    readonly ended: number | null;
  };
}

/** What only the running daemon knows about a file. */
interface Live {
  readonly host?: string | null;
  readonly isHeld?: boolean;
  readonly sent?: number;
  readonly upload?: FileView['upload'];
  readonly queue?: FileView['queue'];
  readonly readyAt?: number | null;
  /** The reason the file is waiting, when nothing went wrong. */
  readonly why?: string | null;
  /** Why no host can continue with the file, regardless of earlier failures. */
  readonly stuck?: string | null;
}

function fileView(facts: Facts, live?: Live): FileView {
  return {
    id: facts.id,
    state: shownState(facts, live?.isHeld ?? false),
    stage: stageOf(facts, live?.isHeld ?? false),
    host: live?.host ?? null,
    path: `${facts.folder}/${facts.path}`,
    size: facts.version.size,
    sent: live?.sent ?? null,
    upload: live?.upload ?? null,
    queue: live?.queue ?? null,
    ready_at: live?.readyAt ?? null,
    rule: facts.plan?.rule ?? null,
    priority: facts.plan === null ? null : priorityOf(facts.plan),
    channel: facts.plan?.channel ?? null,
    title: facts.plan?.title ?? null,
    description: facts.plan?.description ?? null,
    tags: facts.plan?.tags ?? [],
    publish: facts.plan?.publish ?? [],
    published: facts.published,
    video_id: facts.videoId,
    remote_status: facts.remoteStatus,
    source_url: facts.sourceUrl === null ? null : withoutQuery(facts.sourceUrl),
    sha256: facts.sha256,
    attempts: facts.attempts,
    not_before: facts.notBefore,
    why: live?.stuck ?? facts.why ?? failureWords(facts) ?? live?.why ?? channelRefusal(facts) ?? deletionWords(facts),
    code: facts.lastFailure?.code ?? null,
    cause: causeKey(facts),
    local: facts.disposal,
    times: {
      discovered: facts.discoveredAt,
      created: facts.createdAt,
      upload_started: facts.uploadStartedAt,
      uploaded: facts.uploadedAt,
      ready: facts.readyAt,
      ended: facts.endedAt,
    },
  };
}

function failureWords({ lastFailure, uploadSession }: Facts): string | null {
  if (lastFailure === null || uploadSession === null || uploadSession.reach === 0) return lastFailure?.message ?? null;
  return `${lastFailure.message}; the next try sends only what the upload host does not have`;
}

/** The parts of the running daemon that know more about a file than its row. */
export interface LiveDaemon extends LineWorld {
  readonly conductor: LineWorld['conductor'] & Pick<Conductor, 'feedsWaiting' | 'pollTrouble'>;
  readonly rows: Pick<Rows, 'isHeld' | 'held'>;
  waits(): readonly Wait[];
}

/** Presents the daemon as it was when steps held these rows, so that several views of one moment agree. */
export function asHeld(daemon: Omit<LiveDaemon, 'rows'>, held: readonly string[]): LiveDaemon {
  const { conductor, gate, times, fleet } = daemon;
  const waits = daemon.waits();
  return {
    conductor,
    gate,
    times,
    fleet,
    config: () => daemon.config(),
    waits: () => waits,
    rows: { isHeld: (id) => held.includes(id), held: () => held },
  };
}

/**
 * Combines a row with what only the running daemon knows: which files have a running step, their progress, and what the
 * others are waiting for.
 */
export function viewOf(
  daemon: LiveDaemon | null,
  facts: Facts,
  places: Standings = new Map(),
  writers: ReadonlyMap<string, string> = new Map(),
): FileView {
  if (daemon === null) return fileView(facts);
  const host = (isSent(facts) ? null : hostOf(daemon, facts.id)) ?? writers.get(facts.id) ?? null;
  return fileView(facts, { host, ...liveOf(daemon, facts, places) });
}

/** Once the file is sent, it does not matter which host follows it on the service. */
function isSent({ uploadedAt }: Facts): boolean {
  return uploadedAt !== null;
}

/** Returns the host that is working on the file now. */
function hostOf({ fleet, rows }: LiveDaemon, id: string): string | null {
  if (fleet === null || !rows.isHeld(id)) return null;
  return workerOf(fleet, id) ?? fleet.self;
}

function liveOf(daemon: LiveDaemon, facts: Facts, places: Standings): Live {
  const { conductor, rows } = daemon;
  const state = stateOf(facts);
  const isLive = rows.isHeld(facts.id);
  if (isLive && state === 'done' && facts.disposal === 'pending') return { why: whileRead(facts) };
  if (isLive && state === 'queued') return { isHeld: true, sent: 0 };
  if (!isLive || state !== 'awaiting upload') {
    const place = places.get(facts.id);
    const stuck = stuckOf(daemon.fleet, facts, foldersOf(daemon));
    const queue = place === undefined ? null : queueOf(stuck === null ? place : { ...place, startsInMs: null });
    const readyAt = state === 'processing' ? readyAtOf(daemon, facts.uploadedAt) : null;
    return { queue, readyAt, why: waitsFor(daemon, facts, place), stuck };
  }
  const upload = conductor.uploads().find(({ id }) => id === facts.id);
  const sent = upload?.sentBytes ?? 0;
  const why = sent > 0 && sent === facts.version.size ? 'sent; waiting for the answer of the upload host' : null;
  const progress = upload === undefined ? null : uploadOf(upload, daemon);
  const readyAt = readyAtOf(daemon, progress?.done_at ?? null);
  return { isHeld: true, sent, upload: progress, readyAt, why };
}

/** A video that takes longer than usual may be ready at any moment, so no time is estimated. */
function readyAtOf(daemon: LiveDaemon, sentAt: number | null): number | null {
  const { processingMs } = daemon.conductor.pace();
  if (sentAt === null || processingMs === null) return null;
  const at = Math.round(sentAt + processingMs + daemon.config().poll.intervalMs);
  return at < Date.now() ? null : at;
}

/** A ledger read without a daemon lists its hosts itself. */
export interface OfFleet {
  readonly fleet?: FleetView | null;
}

/** Builds file views, including what each file in line is waiting for. */
export async function viewsOf(
  ledger: LineRows & OfFleet,
  daemon: LiveDaemon | null,
  files: readonly Facts[],
): Promise<readonly FileView[]> {
  const places = daemon === null ? undefined : await standingsOf(daemon, ledger, files);
  const live = daemon && asHeld(daemon, daemon.rows.held());
  const fleet = daemon === null ? ledger.fleet : daemon.fleet;
  const writers = await fleet?.hostsOf(files.map(({ id }) => id));
  if (daemon === null && fleet != null)
    return files.map((facts) => fileView(facts, elsewhereOf(fleet, facts, writers)));
  return files.map((facts) => viewOf(live, facts, places, writers));
}

/** Reports by other hosts about a file, for a host without a running daemon. */
function elsewhereOf(fleet: FleetView, facts: Facts, writers: ReadonlyMap<string, string> = new Map()): Live {
  const { id } = facts;
  const worker = workerOf(fleet, id);
  if (worker === null) return { host: writers.get(id) ?? null, stuck: stuckOf(fleet, facts, []) };
  const told = fleet
    .known()
    .find(({ name }) => name === worker)
    ?.doing.work.find((work) => work.id === id);
  return {
    host: isSent(facts) ? (writers.get(id) ?? worker) : worker,
    isHeld: true,
    sent: told?.upload?.sentBytes ?? 0,
  };
}

function queueOf({ before, startsInMs }: Standing): FileView['queue'] {
  return { before, starts_at: startsInMs === null ? null : Math.round(Date.now() + startsInMs) };
}

/** Idle time before an upload counts as stalled, in milliseconds. Shorter gaps are normal: bytes leave in bursts. */
const stallMs = 10_000;

function uploadOf(
  { bytesPerSecond, idleMs, sentBytes, sizeBytes }: LiveUpload,
  daemon: LiveDaemon,
): FileView['upload'] {
  const isStalled = idleMs >= stallMs && sentBytes < sizeBytes;
  const doneInMs = isStalled ? null : uploadedInMs(Math.max(0, sizeBytes - sentBytes), bytesPerSecond, paceOf(daemon));
  return {
    bytes_per_second: isStalled ? 0 : bytesPerSecond === null ? null : Math.round(bytesPerSecond),
    stalled_since: isStalled ? Math.round(Date.now() - idleMs) : null,
    done_at: doneInMs === null ? null : Math.round(Date.now() + doneInMs),
  };
}

function whileRead({ afterReady }: Facts): string {
  const deed = afterReady.kind === 'delete' ? 'deleted' : 'moved';
  return `its local file is out of reach while it is read once more; then it is ${deed}`;
}

function waitsFor(daemon: LiveDaemon, facts: Facts, place: Standing | undefined): string | null {
  const { conductor, gate } = daemon;
  const state = stateOf(facts);
  if (!workStates.includes(state)) return null;
  const now = Date.now();
  const waits = daemon.waits();
  const elsewhere = isBeforeUpload(state) ? waitsElsewhere(daemon.fleet, facts.folder, foldersOf(daemon)) : null;
  const wait = waits.find((each) => holdsUp(each, facts) && (elsewhere === null || each.cause !== 'upload window'));
  if (wait !== undefined) return fileWaitWords(wait, now);
  if (elsewhere !== null) return elsewhere.why;
  if (state === 'awaiting upload') return whyInLine(daemon, facts, place) ?? 'waiting for an upload slot';
  if (state === 'retrying') return null;
  const isAsking = gate.snapshot().waiting > 0;
  if (state === 'queued' && !isAsking) return whyInLine(daemon, facts, place) ?? 'waiting for its turn';
  const limit = waits.find(({ cause }) => cause === 'rate limit');
  if (limit !== undefined) return fileWaitWords(limit, now);
  if (state === 'queued') return 'waiting for the hourly request budget';
  if (state === 'awaiting publish') return publishWords(facts, conductor.feedsWaiting(), now);
  const trouble = conductor.pollTrouble();
  return trouble && pollWords(trouble, now);
}

/** Whether a wait keeps a file from its next step. A rate limit only delays the file. */
function holdsUp({ cause, holds, what }: Wait, facts: Facts): boolean {
  const state = stateOf(facts);
  switch (cause) {
    case 'paused':
      return isBeforeUpload(state) && (holds === 'everything' || what === facts.folder);
    case 'upload host':
    case 'upload window':
      return isBeforeUpload(state);
    case 'unanswered creates':
      return state === 'queued';
    case 'channel':
      return state === 'queued' && what === filesFor(facts.plan?.channel ?? '');
    default:
      return holds === 'everything' || (holds === 'new files' && state === 'queued');
  }
}

/** Returns why no host can continue the file: no working host can read its bytes, or none is working. Null: one can. */
function stuckOf(fleet: FleetView | null, facts: Facts, watched: readonly string[]): string | null {
  if (!workStates.includes(stateOf(facts))) return null;
  if (facts.uploadedAt !== null) return noneTakesWords(fleet);
  const wait = waitsElsewhere(fleet, facts.folder, watched);
  return wait?.isStuck === true ? wait.why : noneTakesWords(fleet);
}

function foldersOf(daemon: LiveDaemon): readonly string[] {
  return daemon.fleet === null ? [] : daemon.config().folders.map(({ path }) => path);
}

/** Records count as part of the queue because they are created only shortly before the upload. */
function isBeforeUpload(state: FileState): boolean {
  return state === 'queued' || state === 'awaiting upload';
}

function withoutQuery(address: string): string {
  const [start] = address.split('?');
  return start === address ? address : `${start ?? ''}?…`;
}

/** Why news of a video's status is slow to arrive. */
function pollWords(trouble: PollTrouble, nowMs: number): string {
  if (trouble.kind === 'no list')
    return `the service does not list videos (${trouble.failure.message}): dropcast polls each one by its id, which is slower`;
  const { nextAt, left, limit } = trouble;
  const waits = `the next check waits until ${clockTime(nextAt, nowMs)}`;
  if (left === 0) return `${waits}: all ${limit} requests of this hour are used`;
  const kept =
    left === 1 ? 'the one request that is left this hour is' : `the ${left} requests that are left this hour are`;
  return `${waits}: ${kept} kept for creating and publishing`;
}

/** Why a file that is ready has not been published yet. */
function publishWords(facts: Facts, waits: readonly FeedWait[], nowMs: number): string {
  const feeds = feedsToPublish(facts);
  const ours = waits.filter(({ feed }) => feeds.includes(feed));
  const failing = ours.find(({ failure }) => failure !== null);
  if (failing?.failure) {
    const next = failing.nextTryAt === null ? '' : `; next try at ${clockTime(failing.nextTryAt, nowMs)}`;
    return `feed ${failing.feed} could not be published: ${failing.failure.message}${next}`;
  }
  const latestAt = Math.max(...ours.map(({ latestAt: at }) => at));
  const until =
    Number.isFinite(latestAt) && latestAt > nowMs ? `, until ${clockTime(latestAt, nowMs)} at the latest` : '';
  return `waiting to publish several at once${until}`;
}

/**
 * Describes when a finished video's local file will be deleted: `will be deleted after 2026-11-29 14:00, or when the
 * disk is 85 % full`.
 *
 * @returns null when no deletion is scheduled
 */
export function deletionWords({ disposal, afterReady, endedAt }: Facts, nowMs = Date.now()): string | null {
  if (disposal !== 'later' || afterReady.kind !== 'delete' || afterReady.later === undefined) return null;
  const { afterMs, whenFull } = afterReady.later;
  const whens = [
    ...(afterMs === null ? [] : [`after ${clockTime((endedAt ?? 0) + afterMs, nowMs)}`]),
    ...(whenFull === null ? [] : [`when the disk is ${whenFull} % full`]),
  ];
  return `will be deleted ${whens.join(', or ')}`;
}
