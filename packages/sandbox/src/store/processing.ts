import type { DatabaseSync } from 'node:sqlite';
import { numberOrNull, text } from './columns.ts';
import { inTransaction } from './database.ts';
import type { Failure, StoredFile, Video, VideoStatus } from './videos.ts';
import type { MediaFacts, Probe } from '../media/media-report.ts';

/** Changes the status of videos: pending → processing → ready or failed. Reads no clock; callers pass all times. */
export class ProcessingStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /**
   * pending → processing until `dueAtMs`, storing the probe result. A duration that the video already has is kept.
   * @returns false if the video was not pending
   */
  startProcessing(file: StoredFile, probe: Probe, time: { nowMs: number; dueAtMs: number }): boolean {
    const result = this.#database
      .prepare(
        `UPDATE videos SET status = 'processing', uploaded_at_ms = :nowMs, due_at_ms = :dueAtMs, file_size_bytes = :sizeBytes,
           file_sha256 = :sha256, container = :container, media_type = :mediaType, file_extension = :fileExtension,
           duration_s = COALESCE(duration_s, :durationS), width = :width, height = :height, video_codec = :videoCodec, audio_codec = :audioCodec,
           bit_rate = :bitRate, frame_rate = :frameRate, failure_code = :code, failure_message = :message
         WHERE id = :videoId AND status = 'pending'`,
      )
      .run({ ...file, ...time, ...outcomeColumns(probe) });
    return result.changes > 0;
  }

  /** processing → ready or failed, for all videos that are due. @returns those videos */
  finishDue(nowMs: number): Pick<Video, 'id' | 'status'>[] {
    const rows = this.#database
      .prepare(
        `UPDATE videos SET status = CASE WHEN failure_code IS NULL THEN 'ready' ELSE 'failed' END,
           ended_at_ms = due_at_ms, due_at_ms = NULL
         WHERE status = 'processing' AND due_at_ms <= ? RETURNING id, status`,
      )
      .all(nowMs);
    return rows.map((row) => ({ id: text(row, 'id'), status: text(row, 'status') as VideoStatus }));
  }

  /** pending or processing → failed. @returns false if the video is ready, failed or deleted */
  fail(id: string, failure: Failure, nowMs: number): boolean {
    const result = this.#database
      .prepare(
        `UPDATE videos SET status = 'failed', failure_code = ?, failure_message = ?, ended_at_ms = ?, due_at_ms = NULL
         WHERE id = ? AND status IN ('pending', 'processing')`,
      )
      .run(failure.code, failure.message, nowMs, id);
    return result.changes > 0;
  }

  /**
   * Sets an earlier due time for a video in processing. A stuck video, whose due time is never reached, stays stuck.
   */
  hurry(id: string, dueAtMs: number): void {
    this.#database
      .prepare("UPDATE videos SET due_at_ms = ? WHERE id = ? AND status = 'processing' AND due_at_ms < ?")
      .run(dueAtMs, id, Number.MAX_SAFE_INTEGER);
  }

  /** Returns when the next video in processing is due, ms since 1970. */
  nextDueAtMs(): number | null {
    const row = this.#database.prepare("SELECT MIN(due_at_ms) AS due FROM videos WHERE status = 'processing'").get();
    return row ? numberOrNull(row, 'due') : null;
  }

  /** Runs changes as one transaction, including what their listeners store. */
  atOnce<T>(work: () => T): T {
    return inTransaction(this.#database, work);
  }
}

function outcomeColumns(probe: Probe): Record<keyof MediaFacts | 'code' | 'message', string | number | null> {
  if (!probe.isPlayable) return { ...NO_MEDIA, code: probe.code, message: probe.message };
  const { isPlayable: _isPlayable, ...facts } = probe;
  return { ...facts, code: null, message: null };
}

const NO_MEDIA: Record<keyof MediaFacts, null> = {
  container: null,
  mediaType: null,
  fileExtension: null,
  durationS: null,
  width: null,
  height: null,
  videoCodec: null,
  audioCodec: null,
  bitRate: null,
  frameRate: null,
};
