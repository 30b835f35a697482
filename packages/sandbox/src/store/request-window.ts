import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { inTransaction } from './database.ts';

export type Admission = { readonly admitted: true } | { readonly admitted: false; readonly retryAfterS: number };

/**
 * The request limit of api-spec section 8 over a true rolling hour: a key's request number n is admitted once its
 * request n - limit is an hour old. Refused requests do not count (assumed). Kept on disk, so that a restart does not
 * reset the limit.
 */
export class RequestWindow {
  readonly #database: DatabaseSync;
  /** Requests per hour. */
  limit: number;
  readonly #latest: StatementSync;
  readonly #at: StatementSync;
  readonly #insert: StatementSync;
  readonly #forget: StatementSync;
  readonly #count: StatementSync;

  /** @param database with the table `api_requests` @param limit requests per key in any rolling hour, 1 and up */
  constructor(database: DatabaseSync, limit: number) {
    this.#database = database;
    this.limit = limit;
    this.#latest = database.prepare(
      'SELECT number, at_ms FROM api_requests WHERE key_id = ? ORDER BY number DESC LIMIT 1',
    );
    this.#at = database.prepare('SELECT at_ms FROM api_requests WHERE key_id = ? AND number = ?');
    this.#insert = database.prepare('INSERT INTO api_requests (key_id, number, at_ms) VALUES (?, ?, ?)');
    this.#forget = database.prepare('DELETE FROM api_requests WHERE key_id = ? AND at_ms <= ?');
    this.#count = database.prepare('SELECT COUNT(*) AS total FROM api_requests WHERE key_id = ? AND at_ms > ?');
  }

  admit(keyId: number, nowMs: number): Admission {
    return inTransaction(this.#database, () => {
      const latest = this.#latest.get(keyId);
      const next = Number(latest?.['number'] ?? 0) + 1;
      const atMs = Math.max(nowMs, Number(latest?.['at_ms'] ?? 0)); // a clock set back must not reorder the window
      const blocking = this.#at.get(keyId, next - this.limit)?.['at_ms'];
      if (typeof blocking === 'number' && blocking > atMs - HOUR_MS)
        return { admitted: false, retryAfterS: Math.ceil((blocking + HOUR_MS - nowMs) / 1000) };
      this.#insert.run(keyId, next, atMs);
      if (next % PRUNE_EVERY === 0) this.#forget.run(keyId, atMs - HOUR_MS); // a missing row is an old row
      return { admitted: true };
    });
  }

  /** Returns the number of the key's requests in the current window. */
  used(keyId: number, nowMs: number): number {
    return Number(this.#count.get(keyId, nowMs - HOUR_MS)?.['total']);
  }
}

const HOUR_MS = 3_600_000;
const PRUNE_EVERY = 500;
