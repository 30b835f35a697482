import type { FollowedExchange } from './followed-exchange.ts';

/** What headers and bodies of all ended exchanges may take together. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Those exchanges whose details are kept: when they take too much memory, the ones that ended first lose theirs. */
export class BoundedDetails {
  readonly #mostBytes: number;
  /** In the order in which they ended. */
  readonly #kept = new Set<FollowedExchange>();
  readonly #dropped = new WeakSet<FollowedExchange>();
  #bytes = 0;

  /** @param mostBytes about how much memory they may take */
  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Takes an exchange that has ended. */
  add(exchange: FollowedExchange): void {
    if (this.#dropped.has(exchange)) return exchange.dropDetails();
    this.#kept.add(exchange);
    this.#bytes += exchange.sizeBytes;
    for (const oldest of this.#kept) {
      if (this.#bytes <= this.#mostBytes) return;
      this.drop(oldest);
    }
  }

  /** Drops the details of an exchange, now or when it ends. */
  drop(exchange: FollowedExchange): void {
    this.#dropped.add(exchange);
    if (!this.#kept.delete(exchange)) return;
    this.#bytes -= exchange.sizeBytes;
    exchange.dropDetails();
  }
}
