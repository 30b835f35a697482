import type { DatabaseSync } from 'node:sqlite';
import { number, numberOrNull, text, textOrNull, type Row } from './columns.ts';

/** A registered webhook. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  /** `whsec_` followed by base64. Shown only once, at registration. */
  readonly secret: string;
  /** The subscribed event types. */
  readonly events: readonly string[];
  readonly createdAtMs: number;
}

/** The delivery of one event to one webhook. */
export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly event: string;
  /** The bytes that are signed and sent, the same in every attempt. */
  readonly body: string;
  readonly createdAtMs: number;
  readonly attempts: number;
  /** Time of the next attempt; null after delivery or the last attempt. */
  readonly dueAtMs: number | null;
  /** HTTP status of the last attempt; null if there was no answer. */
  readonly status: number | null;
  /** Why the last attempt failed. */
  readonly error: string | null;
  readonly deliveredAtMs: number | null;
}

/** The result of an attempt, and when the next one is due, if any. */
export type Attempt = Pick<Delivery, 'status' | 'error' | 'dueAtMs' | 'deliveredAtMs'>;

/** The webhooks and their deliveries. */
export class WebhookStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Adds a webhook. `idOf` receives its number, which is never reused. */
  add({ url, secret, events, createdAtMs }: Omit<Webhook, 'id'>, idOf: (number: number) => string): Webhook {
    const id = idOf(this.#nextNumber('webhooks'));
    this.#database
      .prepare('INSERT INTO webhooks (id, url, secret, events, created_at_ms) VALUES (?, ?, ?, ?, ?)')
      .run(id, url, secret, JSON.stringify(events), createdAtMs);
    return { id, url, secret, events, createdAtMs };
  }

  /** Returns the webhooks in registration order. */
  list(): Webhook[] {
    return this.#database.prepare('SELECT * FROM webhooks ORDER BY number').all().map(toWebhook);
  }

  find(id: string): Webhook | undefined {
    const row = this.#database.prepare('SELECT * FROM webhooks WHERE id = ?').get(id);
    return row && toWebhook(row);
  }

  count(): number {
    return number(this.#database.prepare('SELECT COUNT(*) AS total FROM webhooks').get() ?? {}, 'total');
  }

  /** Removes the webhook with its deliveries. @returns false if it does not exist */
  remove(id: string): boolean {
    this.#database.prepare('DELETE FROM webhook_deliveries WHERE webhook_id = ?').run(id);
    return this.#database.prepare('DELETE FROM webhooks WHERE id = ?').run(id).changes > 0;
  }

  /**
   * Adds a delivery that is due now, and deletes the webhook's oldest deliveries beyond `MOST_KEPT`, even undelivered
   * ones.
   */
  addDelivery(
    { webhookId, event, body, createdAtMs }: Pick<Delivery, 'webhookId' | 'event' | 'body' | 'createdAtMs'>,
    idOf: (number: number) => string,
  ): void {
    const id = idOf(this.#nextNumber('webhook_deliveries'));
    this.#database
      .prepare(
        'INSERT INTO webhook_deliveries (id, webhook_id, event, body, created_at_ms, due_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
      )
      .run(id, webhookId, event, body, createdAtMs, createdAtMs);
    this.#database
      .prepare(
        `DELETE FROM webhook_deliveries WHERE webhook_id = ?1 AND number <=
           (SELECT number FROM webhook_deliveries WHERE webhook_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)`,
      )
      .run(webhookId, MOST_KEPT);
  }

  /** Returns the webhook's deliveries, newest first. */
  deliveries(webhookId: string, limit: number): Delivery[] {
    return this.#database
      .prepare('SELECT * FROM webhook_deliveries WHERE webhook_id = ? ORDER BY number DESC LIMIT ?')
      .all(webhookId, limit)
      .map(toDelivery);
  }

  findDelivery(webhookId: string, id: string): Delivery | undefined {
    const row = this.#database
      .prepare('SELECT * FROM webhook_deliveries WHERE webhook_id = ? AND id = ?')
      .get(webhookId, id);
    return row && toDelivery(row);
  }

  /** Returns the oldest waiting delivery of each webhook. */
  heads(): Delivery[] {
    return this.#database
      .prepare(
        `SELECT * FROM webhook_deliveries WHERE number IN
           (SELECT MIN(number) FROM webhook_deliveries WHERE due_at_ms IS NOT NULL GROUP BY webhook_id) ORDER BY number`,
      )
      .all()
      .map(toDelivery);
  }

  /** Records the result of an attempt. Does nothing if the delivery was deleted. */
  noteAttempt(id: string, { status, error, dueAtMs, deliveredAtMs }: Attempt): void {
    this.#database
      .prepare(
        `UPDATE webhook_deliveries SET attempts = attempts + 1, status = ?, error = ?, due_at_ms = ?, delivered_at_ms = ?
         WHERE id = ?`,
      )
      .run(status, error, dueAtMs, deliveredAtMs, id);
  }

  /** Resets the delivery's attempts and makes it due. */
  startAgain(id: string, dueAtMs: number): void {
    this.#database
      .prepare('UPDATE webhook_deliveries SET attempts = 0, due_at_ms = ?, delivered_at_ms = NULL WHERE id = ?')
      .run(dueAtMs, id);
  }

  #nextNumber(table: 'webhooks' | 'webhook_deliveries'): number {
    const last = this.#database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table);
    return Number(last?.['seq'] ?? 0) + 1;
  }
}

/** assumed: the limit keeps a webhook that never answers from filling the disk. */
const MOST_KEPT = 10_000;

function toWebhook(row: Row): Webhook {
  return {
    id: text(row, 'id'),
    url: text(row, 'url'),
    secret: text(row, 'secret'),
    events: JSON.parse(text(row, 'events')) as string[],
    createdAtMs: number(row, 'created_at_ms'),
  };
}

function toDelivery(row: Row): Delivery {
  return {
    id: text(row, 'id'),
    webhookId: text(row, 'webhook_id'),
    event: text(row, 'event'),
    body: text(row, 'body'),
    createdAtMs: number(row, 'created_at_ms'),
    attempts: number(row, 'attempts'),
    dueAtMs: numberOrNull(row, 'due_at_ms'),
    status: numberOrNull(row, 'status'),
    error: textOrNull(row, 'error'),
    deliveredAtMs: numberOrNull(row, 'delivered_at_ms'),
  };
}
