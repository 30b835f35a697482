import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Events } from '../events.ts';
import type { Records } from '../store/records.ts';
import { RecentMap } from './recent-map.ts';
import { embedProgress, type PlayerReport } from './read-plays.ts';

interface EmbedPlaysParts {
  readonly records: Pick<Records, 'videos' | 'plays'>;
  readonly clock: Clock;
  readonly events: Events;
  /** Returns real time in ms, independent of the service's clock. Default: time since this process started. */
  readonly uptimeMs?: () => number;
}

/** The reason a play was not opened. */
type PlayRefusal = 'no such video' | 'not ready';

/**
 * Counts plays on embed pages. A page opens a play when the video starts, and reports its progress from time to time.
 */
export class EmbedPlays {
  readonly #parts: EmbedPlaysParts;
  readonly #uptimeMs: () => number;
  /** Uptime at which recent plays were opened. Older plays, and all plays after a restart, use the service's clock. */
  readonly #openedAtMs = new RecentMap<number>(10_000);

  /** @param parts the service's records and clock, and events that announce new plays */
  constructor(parts: EmbedPlaysParts) {
    this.#parts = parts;
    this.#uptimeMs = parts.uptimeMs ?? (() => performance.now());
  }

  /** Counts a view. @returns the play's id, known only to its player */
  open(videoId: string, viewer: string): { readonly playId: string } | { readonly refusal: PlayRefusal } {
    const { records, clock, events } = this.#parts;
    const video = records.videos.find(videoId);
    if (!video) return { refusal: 'no such video' };
    if (video.status !== 'ready') return { refusal: 'not ready' };
    const id = `play_${randomBytes(15).toString('base64url')}`;
    const startedAtMs = clock.nowMs();
    records.plays.add({ id, videoId, viewer, source: 'embed', startedAtMs, watchedS: 0, isComplete: false });
    this.#openedAtMs.set(id, this.#uptimeMs());
    events.emit('video.played', videoId);
    return { playId: id };
  }

  /**
   * Records a player's progress. Late, repeated and reordered reports are harmless. @returns false if the video has no
   * such play
   */
  report(videoId: string, playId: string, report: PlayerReport): boolean {
    const { videos, plays } = this.#parts.records;
    const play = plays.find(playId);
    const video = videos.find(videoId);
    if (!video || play?.videoId !== videoId || play.source !== 'embed') return false;
    plays.raise(playId, embedProgress(report, this.#elapsedMs(playId, play.startedAtMs), video.durationS));
    return true;
  }

  /**
   * Returns the time since the play started, by whichever clock advanced further. The service's clock may be stopped
   * while a player is running, or moved forward while none is.
   */
  #elapsedMs(playId: string, startedAtMs: number): number {
    const openedAtMs = this.#openedAtMs.get(playId);
    const reallyMs = openedAtMs === undefined ? 0 : this.#uptimeMs() - openedAtMs;
    return Math.max(reallyMs, this.#parts.clock.nowMs() - startedAtMs);
  }
}
