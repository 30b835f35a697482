import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { number, numberOrNull, text, textOrNull, type Row } from './columns.ts';

export interface ApiKey {
  /** Never used twice, even after a revocation. */
  readonly id: number;
  readonly name: string;
  /** Its first characters, to recognise it. */
  readonly hint: string;
  /**
   * assumed: such a key may read, and gets `forbidden` for everything else (api-spec section 5, rule 8 leaves it open).
   */
  readonly isReadOnly: boolean;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
  /** Requests with this key, including those above the rate limit. */
  readonly useCount: number;
  readonly lastUsedAtMs: number | null;
  /** The client's address in the last request. */
  readonly lastUsedFrom: string | null;
}

export interface NewKey {
  readonly value: string;
  readonly name: string;
  readonly isReadOnly: boolean;
}

/** The API keys. Stores only hashes, so a key can be shown once, at its creation (api-spec section 5). */
export class KeyStore {
  readonly #database: DatabaseSync;
  readonly #byHash: StatementSync;
  readonly #use: StatementSync;

  /** @param database with the table `api_keys` */
  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#byHash = database.prepare(
      'SELECT id, is_read_only FROM api_keys WHERE key_hash = ? AND revoked_at_ms IS NULL',
    );
    this.#use = database.prepare(
      'UPDATE api_keys SET use_count = use_count + 1, last_used_at_ms = ?, last_used_from = ? WHERE id = ?',
    );
  }

  /** Adds the key; an existing one, even revoked, stays unchanged. */
  add({ value, name, isReadOnly }: NewKey, nowMs: number): ApiKey {
    this.#database
      .prepare(
        `INSERT INTO api_keys (name, key_hash, hint, is_read_only, created_at_ms) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (key_hash) DO NOTHING`,
      )
      .run(name, hashOf(value), hintOf(value), isReadOnly ? 1 : 0, nowMs);
    return toKey(this.#database.prepare('SELECT * FROM api_keys WHERE key_hash = ?').get(hashOf(value)) ?? {});
  }

  /** @returns undefined for a key that is unknown or revoked. */
  find(value: string): Pick<ApiKey, 'id' | 'isReadOnly'> | undefined {
    const row = this.#byHash.get(hashOf(value));
    return row && { id: number(row, 'id'), isReadOnly: number(row, 'is_read_only') === 1 };
  }

  /** One statement by the primary key: this happens at every request. */
  noteUse(id: number, nowMs: number, from: string | null): void {
    this.#use.run(nowMs, from, id);
  }

  get(id: number): ApiKey | undefined {
    const row = this.#database.prepare('SELECT * FROM api_keys WHERE id = ?').get(id);
    return row && toKey(row);
  }

  /** All keys, revoked ones too, oldest first. */
  list(): ApiKey[] {
    return this.#database.prepare('SELECT * FROM api_keys ORDER BY id').all().map(toKey);
  }

  /** @returns false if it is unknown or already revoked */
  revoke(id: number, nowMs: number): boolean {
    const revoke = 'UPDATE api_keys SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL';
    return this.#database.prepare(revoke).run(nowMs, id).changes > 0;
  }
}

/** A lookup by SHA-256 leaks nothing through timing: a guesser cannot choose the hash of a guess. */
function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

/** Four of the 32 characters of a generated key; at most a quarter of any other. */
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
