import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { number, numberOrNull, text, textOrNull, type Row } from './columns.ts';

export interface ApiKey {
  /** Never reused, even after a revocation. */
  readonly id: number;
  readonly name: string;
  /** The key's first characters, so that users recognise it. */
  readonly hint: string;
  /**
   * assumed: a read-only key gets `forbidden` for everything but reads (api-spec section 5, rule 8 leaves this open).
   */
  readonly isReadOnly: boolean;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
  /** Number of requests with this key, including those refused by the rate limit. */
  readonly useCount: number;
  readonly lastUsedAtMs: number | null;
  /** Client address of the last request. */
  readonly lastUsedFrom: string | null;
}

interface NewKey {
  readonly value: string;
  readonly name: string;
  readonly isReadOnly: boolean;
}

/** The API keys. Only hashes are stored, so a key can be shown just once, when it is created (api-spec section 5). */
export class KeyStore {
  readonly #database: DatabaseSync;
  readonly #byHash: StatementSync;
  readonly #use: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#byHash = database.prepare(
      'SELECT id, is_read_only FROM api_keys WHERE key_hash = ? AND revoked_at_ms IS NULL',
    );
    this.#use = database.prepare(
      'UPDATE api_keys SET use_count = use_count + 1, last_used_at_ms = ?, last_used_from = ? WHERE id = ?',
    );
  }

  /** Adds the key. An existing key, even a revoked one, stays unchanged. */
  add({ value, name, isReadOnly }: NewKey, nowMs: number): ApiKey {
    this.#database
      .prepare(
        `INSERT INTO api_keys (name, key_hash, hint, is_read_only, created_at_ms) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (key_hash) DO NOTHING`,
      )
      .run(name, hashOf(value), hintOf(value), isReadOnly ? 1 : 0, nowMs);
    return toKey(this.#database.prepare('SELECT * FROM api_keys WHERE key_hash = ?').get(hashOf(value)) ?? {});
  }

  /** Looks up a key by its value. @returns undefined for an unknown or revoked key */
  find(value: string): Pick<ApiKey, 'id' | 'isReadOnly'> | undefined {
    const row = this.#byHash.get(hashOf(value));
    return row && { id: number(row, 'id'), isReadOnly: number(row, 'is_read_only') === 1 };
  }

  /** Counts a use of the key. A single statement by primary key, because it runs on every request. */
  noteUse(id: number, nowMs: number, from: string | null): void {
    this.#use.run(nowMs, from, id);
  }

  get(id: number): ApiKey | undefined {
    const row = this.#database.prepare('SELECT * FROM api_keys WHERE id = ?').get(id);
    return row && toKey(row);
  }

  /** Returns all keys, including revoked ones, oldest first. */
  list(): ApiKey[] {
    return this.#database.prepare('SELECT * FROM api_keys ORDER BY id').all().map(toKey);
  }

  /** Revokes a key. @returns false if it is unknown or already revoked */
  revoke(id: number, nowMs: number): boolean {
    const revoke = 'UPDATE api_keys SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL';
    return this.#database.prepare(revoke).run(nowMs, id).changes > 0;
  }
}

/**
 * Returns the SHA-256 that keys are looked up by. The lookup leaks nothing through timing: an attacker cannot choose
 * the hash of a guess.
 */
function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

/** Returns the first four of a generated key's 32 characters; at most a quarter of any other key. */
function hintOf(value: string): string {
  return value.slice(0, /^sk_sandbox_.{24}/.test(value) ? 'sk_sandbox_'.length + 4 : Math.floor(value.length / 4));
}

function toKey(row: Row): ApiKey {
  return {
    id: number(row, 'id'),
    name: text(row, 'name'),
    hint: text(row, 'hint'),
    isReadOnly: number(row, 'is_read_only') === 1,
    createdAtMs: number(row, 'created_at_ms'),
    revokedAtMs: numberOrNull(row, 'revoked_at_ms'),
    useCount: number(row, 'use_count'),
    lastUsedAtMs: numberOrNull(row, 'last_used_at_ms'),
    lastUsedFrom: textOrNull(row, 'last_used_from'),
  };
}
