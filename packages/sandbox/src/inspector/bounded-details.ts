import type { FollowedExchange } from './followed-exchange.ts';

/** Maximum memory for the headers and bodies of all finished exchanges together. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * The exchanges whose details are kept. When the details need too much memory, the exchanges that finished first lose
 * theirs.
 */
export class BoundedDetails {
  readonly #mostBytes: number;
  /** Exchanges in the order in which they finished. */
  readonly #kept = new Set<FollowedExchange>();
  readonly #dropped = new WeakSet<FollowedExchange>();
  #bytes = 0;

  /** @param mostBytes approximate memory limit for the details */
  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Adds an exchange that has finished. */
  add(exchange: FollowedExchange): void {
    if (this.#dropped.has(exchange)) return exchange.dropDetails();
    this.#kept.add(exchange);
    this.#bytes += exchange.sizeBytes;
    for (const oldest of this.#kept) {
      if (this.#bytes <= this.#mostBytes) return;
      this.drop(oldest);
    }
  }

  /** Drops an exchange's details, now or when it finishes. */
  drop(exchange: FollowedExchange): void {
    this.#dropped.add(exchange);
    if (!this.#kept.delete(exchange)) return;
    this.#bytes -= exchange.sizeBytes;
    exchange.dropDetails();
  }
}
