import { createHash, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** State of an upload address. 'void': its video was deleted; 'unknown': the service never issued it. */
type AddressState = 'valid' | 'wrong token' | 'expired' | 'void' | 'unknown';

/**
 * One upload address per video, storing only the hash of its token. An address outlives its video, so that requests get
 * 'gone' rather than 'unknown'.
 */
export class UploadAddressStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  add(videoId: string, token: string, expiresAtMs: number): void {
    this.#database
      .prepare('INSERT INTO upload_addresses (video_id, token_hash, expires_at_ms) VALUES (?, ?, ?)')
      .run(videoId, hashOf(token).toString('hex'), expiresAtMs);
  }

  void(videoId: string): void {
    this.#database.prepare('UPDATE upload_addresses SET is_void = 1 WHERE video_id = ?').run(videoId);
  }

  judge(videoId: string, token: string, nowMs: number): AddressState {
    const row = this.#database.prepare('SELECT * FROM upload_addresses WHERE video_id = ?').get(videoId);
    if (!row) return 'unknown';
    if (!timingSafeEqual(Buffer.from(String(row['token_hash']), 'hex'), hashOf(token))) return 'wrong token';
    if (row['is_void'] === 1) return 'void';
    return nowMs >= Number(row['expires_at_ms']) ? 'expired' : 'valid';
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
