import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Events } from '../events.ts';
import type { Records } from '../store/records.ts';
import { RecentMap } from './recent-map.ts';
import { embedProgress, type PlayerReport } from './watch-rules.ts';

export interface EmbedPlaysParts {
  readonly records: Pick<Records, 'videos' | 'plays'>;
  readonly clock: Clock;
  readonly events: Events;
  /** Real time in ms, independent of the service's clock. Default: since this process started. */
  readonly uptimeMs?: () => number;
}

/** Why a play was not opened. */
export type PlayRefusal = 'no such video' | 'not ready';

/**
 * The plays of embed pages. A page opens a play when the video begins to run, and reports from time to time how far it
 * came.
 */
export class EmbedPlays {
  readonly #parts: EmbedPlaysParts;
  readonly #uptimeMs: () => number;
  /** When plays were opened, in uptime. For older ones, and after a restart, the service's clock is used. */
  readonly #openedAtMs = new RecentMap<number>(10_000);

  /** @param parts records and clock of the service, events for new plays */
  constructor(parts: EmbedPlaysParts) {
    this.#parts = parts;
    this.#uptimeMs = parts.uptimeMs ?? (() => performance.now());
  }

  /** Counts a view. @returns the play's id, which only its player knows */
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

  /** Late, repeated and reordered reports do no harm. @returns false if the video has no such play */
  report(videoId: string, playId: string, report: PlayerReport): boolean {
    const { videos, plays } = this.#parts.records;
    const play = plays.find(playId);
    const video = videos.find(videoId);
    if (!video || play?.videoId !== videoId || play.source !== 'embed') return false;
    plays.raise(playId, embedProgress(report, this.#elapsedMs(playId, play.startedAtMs), video.durationS));
    return true;
  }

  /**
   * By the clock that advanced further: the service's may be stopped while a player runs, or moved forward while none
   * does.
   */
  #elapsedMs(playId: string, startedAtMs: number): number {
    const openedAtMs = this.#openedAtMs.get(playId);
    const reallyMs = openedAtMs === undefined ? 0 : this.#uptimeMs() - openedAtMs;
    return Math.max(reallyMs, this.#parts.clock.nowMs() - startedAtMs);
  }
}
