import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Events } from './events.ts';
import type { Links } from './http/links.ts';
import type { Records } from './store/records.ts';
import { seededToken } from './seeded-random.ts';
import { inTransaction } from './store/database.ts';
import type { NewVideo } from './store/videos.ts';

export type NewVideoFields = Omit<NewVideo, 'createdAtMs'>;

interface AdmissionParts {
  readonly records: Records;
  readonly links: Links;
  readonly events: Events;
  readonly clock: Clock;
  readonly seed: number;
  readonly uploadUrlTtlMs: number;
  /** Starts fetching the file of a video with a `source_url`. */
  readonly startImport: (videoId: string, sourceUrl: string) => void;
}

/** Adds videos to the account and removes them, each along with its upload address. */
export class VideoAdmission {
  readonly #parts: AdmissionParts;

  /** @param parts `uploadUrlTtlMs`: lifetime of an upload address, 0 or more; `seed`: determines the ids */
  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** @returns the id and the upload address, which cannot be retrieved again */
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

  /** Removes the video with its plays and feed items. @returns false if the video does not exist */
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
