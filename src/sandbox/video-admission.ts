import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Links } from './http/links.ts';
import { seededToken } from './seeded.ts';
import { inTransaction } from './store/database.ts';
import type { UploadAddressStore } from './store/upload-addresses.ts';
import type { NewVideo, VideoStore } from './store/videos.ts';

export type NewVideoFields = Omit<NewVideo, 'createdAtMs'>;

export interface AdmissionParts {
  readonly database: DatabaseSync;
  readonly videos: VideoStore;
  readonly addresses: UploadAddressStore;
  readonly links: Links;
  readonly seed: number;
  readonly uploadUrlTtlMs: number;
  readonly nowMs: () => number;
  /** Fetches the bytes of a video that has a source_url. */
  readonly startImport: (videoId: string, sourceUrl: string) => void;
}

/** Lets videos into the account and out of it: the record and its upload address always together. */
export class VideoAdmission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** @returns the id, and the upload address that can never be read again. */
  admit(fields: NewVideoFields): { id: string; uploadUrl: string } {
    const { database, videos, addresses, links, seed, uploadUrlTtlMs, startImport } = this.#parts;
    const createdAtMs = this.#parts.nowMs();
    const token = randomBytes(24).toString('base64url');
    const id = inTransaction(database, () => {
      const newId = videos.create(
        { ...fields, createdAtMs },
        (number) => `vid_${seededToken(seed, ['video', number], 16)}`,
      );
      addresses.add(newId, token, createdAtMs + uploadUrlTtlMs);
      return newId;
    });
    if (fields.sourceUrl !== null) startImport(id, fields.sourceUrl);
    return { id, uploadUrl: links.upload(id, token) };
  }

  /** @returns false when there is no such video. */
  withdraw(id: string): boolean {
    const { database, videos, addresses } = this.#parts;
    return inTransaction(database, () => {
      addresses.void(id);
      return videos.remove(id);
    });
  }
}
