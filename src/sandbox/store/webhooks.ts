import type { DatabaseSync } from 'node:sqlite';

/** Where events are delivered to, and what became of each delivery. */
export class WebhookStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  count(): number {
    return Number(this.#database.prepare('SELECT COUNT(*) AS n FROM webhooks').get()?.['n'] ?? 0);
  }
}
