import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { inTransaction } from './database.ts';

type Admission = { readonly admitted: true } | { readonly admitted: false; readonly retryAfterS: number };

/** How many requests a key may send in any window of this length. */
interface Limit {
  readonly requests: number;
  readonly windowMs: number;
}

/** A limit and its remaining requests. */
export interface Standing extends Limit {
  readonly left: number;
  /** Time until at least one more request is left, in milliseconds. */
  readonly resetMs: number;
}

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

  constructor(database: DatabaseSync, limit: number) {
    this.#database = database;
    this.limit = limit;
    this.#latest = database.prepare(
      'SELECT number, at_ms FROM api_requests WHERE key_id = ? ORDER BY number DESC LIMIT 1',
    );
    this.#at = database.prepare('SELECT at_ms FROM api_requests WHERE key_id = ? AND number = ?');
    this.#insert = database.prepare('INSERT INTO api_requests (key_id, number, at_ms) VALUES (?, ?, ?)');
    this.#forget = database.prepare('DELETE FROM api_requests WHERE key_id = ? AND at_ms <= ?');
    this.#count = database.prepare(
      'SELECT COUNT(*) AS total, MIN(number) AS first FROM api_requests WHERE key_id = ? AND at_ms > ?',
    );
  }

  /** @param isBurst whether the limit of bursts applies too */
  admit(keyId: number, nowMs: number, isBurst = false): Admission {
    return inTransaction(this.#database, () => {
      const latest = this.#latest.get(keyId);
      const next = Number(latest?.['number'] ?? 0) + 1;
      const atMs = Math.max(nowMs, Number(latest?.['at_ms'] ?? 0)); // a clock set back must not reorder the window
      const waits = this.#limits(isBurst).map(({ requests, windowMs }) => {
        const blocking = this.#at.get(keyId, next - requests)?.['at_ms'];
        return typeof blocking === 'number' && blocking > atMs - windowMs ? blocking + windowMs - nowMs : 0;
      });
      const waitMs = Math.max(...waits);
      if (waitMs > 0) return { admitted: false, retryAfterS: Math.ceil(waitMs / 1000) };
      this.#insert.run(keyId, next, atMs);
      if (next % PRUNE_EVERY === 0) this.#forget.run(keyId, atMs - HOUR_MS); // a missing row is an old row
      return { admitted: true };
    });
  }

  /** Returns the number of the key's requests in the current window. */
  used(keyId: number, nowMs: number): number {
    return Number(this.#count.get(keyId, nowMs - HOUR_MS)?.['total']);
  }

  /** Returns what is left of each limit after the requests so far. */
  standing(keyId: number, nowMs: number, isBurst: boolean): readonly Standing[] {
    return this.#limits(isBurst).map((limit) => {
      const { total, first } = this.#count.get(keyId, nowMs - limit.windowMs) ?? {};
      const left = Math.max(0, limit.requests - Number(total));
      // The request that makes room when it expires: the oldest, or a later one if the limit was lowered.
      const number = Number(first) + Math.max(0, Number(total) - limit.requests);
      const at = this.#at.get(keyId, number)?.['at_ms'];
      return { ...limit, left, resetMs: typeof at === 'number' ? at + limit.windowMs - nowMs : limit.windowMs };
    });
  }

  #limits(isBurst: boolean): readonly Limit[] {
    const hourly = { requests: this.limit, windowMs: HOUR_MS };
    return isBurst ? [hourly, burst] : [hourly];
  }
}

/** The default of PeerTube's rate limit (rates_limit.api of its configuration). */
const burst: Limit = { requests: 50, windowMs: 10_000 };

const HOUR_MS = 3_600_000;
const PRUNE_EVERY = 500;
