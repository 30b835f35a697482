import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Events } from '../events.ts';
import type { Records } from '../store/records.ts';
import { DAY_MS } from './period.ts';
import { RecentMap } from './recent-map.ts';
import { seededToken } from '../seeded-random.ts';
import { isReadByEmbed } from '../http/links.ts';
import type { Services } from '../services.ts';
import type { WatchProgress } from '../store/plays.ts';
import type { VideoMedia } from '../store/videos.ts';

interface ReadPlaysParts {
  readonly records: Pick<Records, 'videos' | 'plays'>;
  readonly clock: Clock;
  readonly events: Events;
  readonly seed: number;
}

/** Bytes of a media file that were sent to a client. */
interface MediaRead extends Client {
  readonly videoId: string;
  /** Position of the first byte sent. */
  readonly start: number;
  readonly bytesSent: number;
}

/**
 * Counts plays by programs that read the media file itself: podcast apps, television players, feed readers. assumed,
 * following the IAB's podcast measurement guidelines: all reads of a video by one viewer within 24 hours are one play,
 * counted once the first minute has been read. The ranges read are kept in memory, so after a restart a viewer's play
 * continues, but its bytes count again.
 */
export class ReadPlays {
  readonly #parts: ReadPlaysParts;
  readonly #windows = new RecentMap<ReadWindow>(10_000);

  /** @param parts the service's records and clock, events that announce new plays, and the seed for hashing viewers */
  constructor(parts: ReadPlaysParts) {
    this.#parts = parts;
  }

  note(read: MediaRead): void {
    const { records, clock, seed } = this.#parts;
    const media = records.videos.find(read.videoId)?.media;
    if (!media || read.bytesSent <= 0) return;
    const viewer = viewerFrom(read, seed);
    const window = this.#windowOf(`${read.videoId} ${viewer}`, clock.nowMs());
    addTo(window, { start: read.start, end: read.start + read.bytesSent });
    const { isView, ...progress } = readProgress(lengthOf(window.ranges), media);
    if (!isView) return;
    const play = records.plays.latestRead(read.videoId, viewer, clock.nowMs() - DAY_MS + 1);
    if (play) return records.plays.raise(play.id, progress);
    this.#count({ videoId: read.videoId, viewer, startedAtMs: window.startedAtMs, ...progress });
  }

  /** Discards the ranges read so far, because a reset reuses ids. */
  forget(): void {
    this.#windows.clear();
  }

  #count(play: { videoId: string; viewer: string; startedAtMs: number; watchedS: number; isComplete: boolean }): void {
    const { records, events } = this.#parts;
    records.plays.add({ id: `play_${randomBytes(15).toString('base64url')}`, source: 'read', ...play });
    events.emit('video.played', play.videoId);
  }

  #windowOf(key: string, nowMs: number): ReadWindow {
    const found = this.#windows.get(key);
    if (found && nowMs - found.startedAtMs < DAY_MS) return found;
    const window = { startedAtMs: nowMs, ranges: [] };
    this.#windows.set(key, window);
    return window;
  }
}

interface ReadWindow {
  readonly startedAtMs: number;
  ranges: readonly ByteRange[];
}

/**
 * Adds a range. At the limit only ranges that join known ones are added, so that a client reading every other byte
 * cannot exhaust memory.
 */
function addTo(window: ReadWindow, range: ByteRange): void {
  const ranges = withRange(window.ranges, range);
  if (ranges.length <= MAX_RANGES) window.ranges = ranges;
}

const MAX_RANGES = 1000;

interface Client {
  readonly remoteAddress: string;
  readonly userAgent: string;
}

/**
 * Identifies a program without a cookie by its address and user agent, as podcast measurement does. assumed: the
 * specification counts unique viewers (section 2.5) without defining them. Only a hash is stored.
 */
export function viewerFrom({ remoteAddress, userAgent }: Client, seed: number): string {
  return `client_${seededToken(seed, ['viewer', remoteAddress, userAgent], 20)}`;
}

/** A completed read, with the requested path and query. */
interface FinishedRead extends MediaRead {
  readonly target: string;
}

/** @returns a function to call after every read of a media file */
export function countReads(services: Pick<Services, 'records' | 'clock' | 'events' | 'settings'>) {
  const { records, clock, events, settings } = services;
  const plays = new ReadPlays({ records, clock, events, seed: settings.seed });
  events.listen(({ type }) => {
    if (type === 'reset') plays.forget();
  });
  return (read: FinishedRead): void => {
    if (!isReadByEmbed(read.target)) plays.note(read);
  };
}

/** A range of bytes in a file, excluding `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Merges a range into disjoint, sorted ranges. */
export function withRange(ranges: readonly ByteRange[], added: ByteRange): ByteRange[] {
  const before = ranges.filter((range) => range.end < added.start);
  const after = ranges.filter((range) => range.start > added.end);
  const touched = ranges.slice(before.length, ranges.length - after.length);
  const merged = {
    start: Math.min(added.start, ...touched.map((range) => range.start)),
    end: Math.max(added.end, ...touched.map((range) => range.end)),
  };
  return [...before, merged, ...after];
}

export function lengthOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, range) => sum + range.end - range.start, 0);
}

/** assumed: the specification has a completion rate (section 2.5) but does not define when a play is complete. */
const COMPLETE_FRACTION = 0.9;

/** A player's progress report. */
export interface PlayerReport {
  /** Seconds of video actually played, excluding seeks. */
  readonly watchedS: number;
  /** Whether the player reached the end. */
  readonly isEnded: boolean;
}

/** @param durationS null if unknown; the play is then complete if the player reports the end */
export function embedProgress(report: PlayerReport, elapsedMs: number, durationS: number | null): WatchProgress {
  const watchedS = creditedS(report.watchedS, elapsedMs, durationS);
  if (durationS === null) return { watchedS, isComplete: report.isEnded && watchedS > 0 };
  return { watchedS, isComplete: watchedS >= durationS * COMPLETE_FRACTION };
}

/**
 * Caps reported seconds at what was possible, since reports come from a browser and cannot be trusted. assumed: at most
 * double speed since the start of the play, and at most ten runs through the video (a player that loops).
 */
function creditedS(claimedS: number, elapsedMs: number, durationS: number | null): number {
  const possibleS = (elapsedMs / 1000) * MAX_RATE + SLACK_S;
  return Math.min(claimedS, possibleS, durationS === null ? Infinity : durationS * MAX_RUNS);
}

const MAX_RATE = 2;
/** Allowance for players that start shortly before the service opens their play. */
const SLACK_S = 1;
const MAX_RUNS = 10;

/**
 * Returns the progress of a play made up of file reads. Following the IAB's podcast measurement guidelines, a download
 * counts if it holds the first minute, or the whole file if that is shorter. Seconds are estimated from the average bit
 * rate.
 *
 * @param bytes number of distinct bytes read
 */
export function readProgress(bytes: number, media: VideoMedia): WatchProgress & { readonly isView: boolean } {
  const fraction = Math.min(1, bytes / media.sizeBytes);
  const durationS = media.durationS ?? 0;
  const wantedFraction = durationS > MINUTE_S ? MINUTE_S / durationS : 1;
  return {
    isView: fraction >= wantedFraction,
    watchedS: fraction * durationS,
    isComplete: fraction >= COMPLETE_FRACTION,
  };
}

const MINUTE_S = 60;
