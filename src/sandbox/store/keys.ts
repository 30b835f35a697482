import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** The API keys, of which only hashes are kept: a key can be shown once, at creation (api-spec section 5). */
export class KeyStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Makes the key valid; one that is there already stays as it is. */
  add(key: string, name: string, nowMs: number): void {
    this.#database
      .prepare('INSERT INTO api_keys (name, key_hash, hint, created_at_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
      .run(name, hashOf(key), key.slice(0, 6), nowMs);
  }

  /** @returns the number of the key, or undefined for one that is unknown or revoked. */
  find(key: string): number | undefined {
    const row = this.#database
      .prepare('SELECT id FROM api_keys WHERE key_hash = ? AND revoked_at_ms IS NULL')
      .get(hashOf(key));
    return typeof row?.['id'] === 'number' ? row['id'] : undefined;
  }
}

/** Looking up a SHA-256 tells a guesser nothing through timing: he cannot steer the hash of his guess. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
