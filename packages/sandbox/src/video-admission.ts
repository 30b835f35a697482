import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Events } from './events.ts';
import type { Links } from './http/links.ts';
import type { Records } from './store/records.ts';
import { seededToken } from './seeded-random.ts';
import { inTransaction } from './store/database.ts';
import type { NewVideo } from './store/videos.ts';

export type NewVideoFields = Omit<NewVideo, 'createdAtMs'>;

export interface AdmissionParts {
  readonly records: Records;
  readonly links: Links;
  readonly events: Events;
  readonly clock: Clock;
  readonly seed: number;
  readonly uploadUrlTtlMs: number;
  /** Fetches the file of a video with a source_url. */
  readonly startImport: (videoId: string, sourceUrl: string) => void;
}

/** Adds videos to the account and removes them, each together with its upload address. */
export class VideoAdmission {
  readonly #parts: AdmissionParts;

  /** @param parts `uploadUrlTtlMs`: how long an upload address is valid, 0 and up; `seed`: determines the ids */
  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** @returns the id and the upload address, which cannot be read again. */
  admit(fields: NewVideoFields): { id: string; uploadUrl: string } {
    const { records, links, events, clock, seed, uploadUrlTtlMs, startImport } = this.#parts;
    const { database, videos, addresses } = records;
    const createdAtMs = clock.nowMs();
    const token = randomBytes(24).toString('base64url');
    const id = inTransaction(database, () => {
      const newId = videos.create(
        { ...fields, createdAtMs },
        (number) => `vid_${seededToken(seed, ['video', number], 16)}`,
      );
      addresses.add(newId, token, createdAtMs + uploadUrlTtlMs);
      return newId;
    });
    events.emit('video.created', id);
    if (fields.sourceUrl !== null) startImport(id, fields.sourceUrl);
    return { id, uploadUrl: links.upload(id, token) };
  }

  /** Removes the video with its plays and feed items. @returns false if there is no such video */
  withdraw(id: string): boolean {
    const { records, events, clock } = this.#parts;
    const isGone = inTransaction(records.database, () => {
      records.addresses.void(id);
      records.plays.forget(id);
      records.feeds.drop(id, clock.nowMs());
      return records.videos.remove(id);
    });
    if (isGone) events.emit('video.deleted', id);
    return isGone;
  }
}
