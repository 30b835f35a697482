import type { LineRows } from '../../ledger/queues.ts';
import { readFeedLinks } from '../../host/feed-links.ts';
import type { FeedLinks } from '../../host/feed-links.ts';
import { uploadedInMs } from '../../pipeline/estimate.ts';
import { stateOf, type Facts } from '../../pipeline/file/facts.ts';
import type { NoteStore } from '../../pipeline/file/ports.ts';
import { priorityOf } from '../../pipeline/file/queue.ts';
import { channelRefusal } from '../../pipeline/file/reasons.ts';
import { deadlineOf } from '../../pipeline/file/urgency.ts';
import { causeKey } from '../../pipeline/file/selection.ts';
import type { LiveUpload } from '../../pipeline/steps/uploads.ts';
import type { FleetView } from '../hosts/fleet-view.ts';
import { workerOf } from '../hosts/host-view.ts';
import { paceOf } from '../outlook.ts';
import { shownState, stageOf, type StageOrEnd } from '../stages.ts';
import { momentOf, type Moment, type ViewedDaemon } from '../viewed-daemon.ts';
import { clockTime } from '../words/text.ts';
import { placesInLine, stuckOf, waitsFor, type QueuePlace } from './file-waits.ts';

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
  readonly queue: QueuePlace | null;
  /** Approximate time at which the service will have the video ready; null if unknown. */
  readonly ready_at: number | null;
  readonly rule: string | null;
  /** `high`, `normal` or `low`; null until a rule accepts the file. */
  readonly priority: string | null;
  /** When the video must be ready; null: at no particular time. */
  readonly ready_by: number | null;
  /** When a person put the file before all others; null: it waits for its turn. */
  readonly first_since: number | null;
  readonly channel: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly publish: readonly string[];
  readonly published: Readonly<Record<string, number>>;
  readonly video_id: string | null;
  /** Where the video is watched; null until it is ready, or if the service names no address. */
  readonly embed_url: string | null;
  /** Path of its link file, relative to the folder; null: none. */
  readonly link_file: string | null;
  /** Where the feeds of `publish` are read, as far as the service has said. */
  readonly feed_urls: Readonly<Record<string, string>>;
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
interface Live extends Partial<Pick<FileView, 'host' | 'sent' | 'upload' | 'queue' | 'ready_at'>> {
  readonly isHeld?: boolean;
  readonly feedLinks?: Pick<FeedLinks, 'find'>;
  /** The reason the file is waiting, when nothing went wrong. */
  readonly why?: string | null;
  /** Why no host can continue with the file, regardless of earlier failures. */
  readonly stuck?: string | null;
}

function fileView(facts: Facts, live: Live = {}): FileView {
  const { plan, sourceUrl, lastFailure } = facts;
  const { isHeld = false, host = null, sent = null, upload = null, queue = null, ready_at = null } = live;
  return {
    id: facts.id,
    state: shownState(facts, isHeld),
    stage: stageOf(facts, isHeld),
    host,
    path: `${facts.folder}/${facts.path}`,
    size: facts.version.size,
    sent,
    upload,
    queue,
    ready_at,
    rule: plan?.rule ?? null,
    priority: plan && priorityOf(plan),
    ready_by: deadlineOf(facts),
    first_since: facts.firstAt,
    channel: plan?.channel ?? null,
    title: plan?.title ?? null,
    description: plan?.description ?? null,
    tags: plan?.tags ?? [],
    publish: plan?.publish ?? [],
    published: facts.published,
    video_id: facts.videoId,
    embed_url: facts.embedUrl,
    link_file: facts.linkFile !== null && 'path' in facts.linkFile ? facts.linkFile.path : null,
    feed_urls: feedUrlsOf(facts, live.feedLinks),
    remote_status: facts.remoteStatus,
    source_url: sourceUrl?.replace(/\?.*$/s, '?…') ?? null,
    sha256: facts.sha256,
    attempts: facts.attempts,
    not_before: facts.notBefore,
    why:
      live.stuck ??
      facts.why ??
      failureWords(facts) ??
      live.why ??
      channelRefusal(facts) ??
      deletionWords(facts) ??
      linkFileWords(facts.linkFile),
    code: lastFailure?.code ?? null,
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

/** Why a video has no link file: `no link file: it is not mounted`. Null if it has one, or needs none. Pure. */
export function linkFileWords(linkFile: Facts['linkFile']): string | null {
  return linkFile === null || 'path' in linkFile ? null : `no link file: ${linkFile.why}`;
}

/** Returns the known addresses of the feeds that a file is published in. Pure. */
export function feedUrlsOf(
  { plan }: Pick<Facts, 'plan'>,
  links: Pick<FeedLinks, 'find'> = { find: () => null },
): Readonly<Record<string, string>> {
  const known = (plan?.publish ?? []).map((feed) => [feed, links.find(feed)] as const);
  return Object.fromEntries(known.flatMap(([feed, url]) => (url === null ? [] : [[feed, url]])));
}

function failureWords({ lastFailure, uploadSession }: Facts): string | null {
  if (lastFailure === null || uploadSession === null || uploadSession.reach === 0) return lastFailure?.message ?? null;
  return `${lastFailure.message}; the next try sends only what the upload host does not have`;
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

/** Combines a row with what the running daemon knows, apart from its place in line. @param daemon null: not running */
export function viewOf(daemon: ViewedDaemon | null, facts: Facts): FileView {
  return daemon === null ? fileView(facts) : viewAt(momentOf(daemon), facts);
}

/** A ledger read without a daemon lists its hosts and the addresses of feeds itself. */
export interface OfFleet extends Pick<NoteStore, 'note'> {
  readonly fleet?: FleetView | null;
}

/**
 * Builds file views, including what each file in line is waiting for.
 *
 * @param held if known already, the files that steps are working on
 */
export async function viewsOf(
  ledger: LineRows & OfFleet,
  daemon: ViewedDaemon | null,
  files: readonly Facts[],
  held?: readonly string[],
): Promise<readonly FileView[]> {
  const moment = daemon && momentOf(daemon, held);
  const places = moment === null ? new Map<string, QueuePlace>() : await placesInLine(moment, ledger, files);
  const fleet = daemon === null ? (ledger.fleet ?? null) : daemon.fleet;
  const feedLinks = moment?.daemon.feedLinks ?? (await readFeedLinks(ledger));
  const writers = (await fleet?.hostsOf(files.map(({ id }) => id))) ?? new Map<string, string>();
  return files.map((facts) => {
    const writer = writers.get(facts.id) ?? null;
    if (moment !== null) return viewAt(moment, facts, { place: places.get(facts.id), writer });
    return fileView(facts, { feedLinks, ...(fleet !== null && elsewhereOf(fleet, facts, writer)) });
  });
}

/** @param writer the fleet host that wrote the row last */
export function viewAt(
  moment: Moment,
  facts: Facts,
  { place, writer = null }: { readonly place?: QueuePlace | undefined; readonly writer?: string | null } = {},
): FileView {
  const { fleet } = moment.daemon;
  // Once the file is sent, it does not matter which host follows it on the service.
  const isWorkedOn = fleet !== null && facts.uploadedAt === null && moment.held.includes(facts.id);
  const host = isWorkedOn ? (workerOf(fleet, facts.id) ?? fleet.self) : writer;
  return fileView(facts, { host, feedLinks: moment.daemon.feedLinks, ...liveOf(moment, facts, place) });
}

function liveOf(moment: Moment, facts: Facts, place: QueuePlace | undefined): Live {
  const { daemon } = moment;
  const state = stateOf(facts);
  const isHeld = moment.held.includes(facts.id);
  if (isHeld && state === 'done' && facts.disposal === 'pending') return { why: whileRead(facts) };
  if (isHeld && state === 'queued') return { isHeld, sent: 0 };
  if (!isHeld || state !== 'awaiting upload') {
    const stuck = stuckOf(daemon, facts);
    return {
      queue: place === undefined || stuck === null ? (place ?? null) : { ...place, starts_at: null },
      ready_at: state === 'processing' ? readyAtOf(daemon, facts.uploadedAt) : null,
      why: waitsFor(moment, facts, place),
      stuck,
    };
  }
  const running = daemon.conductor.uploads().find(({ id }) => id === facts.id);
  const sent = running?.sentBytes ?? 0;
  const upload = running === undefined ? null : uploadOf(running, daemon);
  return {
    isHeld,
    sent,
    upload,
    ready_at: readyAtOf(daemon, upload?.done_at ?? null),
    why: sent > 0 && sent === facts.version.size ? 'sent; waiting for the answer of the upload host' : null,
  };
}

/** A video that takes longer than usual may be ready at any moment, so no time is estimated. */
function readyAtOf(daemon: ViewedDaemon, sentAt: number | null): number | null {
  const { processingMs } = daemon.conductor.pace();
  if (sentAt === null || processingMs === null) return null;
  const at = Math.round(sentAt + processingMs + daemon.config().poll.intervalMs);
  return at < Date.now() ? null : at;
}

/** Reports by other hosts about a file, for a host without a running daemon. */
function elsewhereOf(fleet: FleetView, facts: Facts, writer: string | null): Live {
  const worker = workerOf(fleet, facts.id);
  if (worker === null) return { host: writer, stuck: stuckOf({ fleet }, facts) };
  const { doing } = fleet.known().find(({ name }) => name === worker) ?? {};
  return {
    host: (facts.uploadedAt === null ? null : writer) ?? worker,
    isHeld: true,
    sent: doing?.work.find(({ id }) => id === facts.id)?.upload?.sentBytes ?? 0,
  };
}

/** Idle time before an upload counts as stalled, in milliseconds. Shorter gaps are normal: bytes leave in bursts. */
const stallMs = 10_000;

function uploadOf(
  { bytesPerSecond, idleMs, sentBytes, sizeBytes }: LiveUpload,
  daemon: ViewedDaemon,
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
