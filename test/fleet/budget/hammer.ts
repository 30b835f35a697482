import { Pool } from 'pg';
import type { Sharing } from '../../../src/host/budget-store.ts';
import { createGate } from '../../../src/host/gate.ts';
import type { Gate } from '../../../src/host/gate.ts';
import { sharedBudget } from '../../../src/fleet/shared-budget.ts';
import type { RequestPriority } from '../../../src/pipeline/file/ports.ts';

/** What a host is told. Each order is answered with a number. */
export type Order =
  | { readonly what: 'clock'; readonly elapsedMs: number }
  | { readonly what: 'send'; readonly priority: RequestPriority; readonly requests: number }
  | { readonly what: 'throttled'; readonly retryAfterMs: number };

/** Nobody waits for anybody: as many are beaten to a write as can be. */
const hasty: Sharing = {
  freshMs: Infinity,
  ahead: () => 0,
  served: () => 3,
  delayMs: () => 0,
  pauseMs: () => 0,
};

/** A host that sends what it is told, as far as the budget allows, by a clock that the test sets. */
export class Hammer implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #gate: Gate;
  readonly #limit: number;
  #elapsedMs = 0;

  constructor(url: string, limit: number) {
    this.#limit = limit;
    // Their clock_timestamp() comes before that of PostgreSQL.
    this.#pool = new Pool({ connectionString: url, max: 1, options: '-c search_path=fake,pg_catalog' });
    this.#pool.on('error', () => undefined);
    const ask = async (text: string, values: readonly unknown[]) =>
      (await this.#pool.query<Record<string, unknown>>(text, [...values])).rows;
    const clock = { now: () => Date.now(), elapsed: () => this.#elapsedMs };
    this.#gate = createGate({ store: sharedBudget(ask, clock.elapsed, hasty), limit, clock });
  }

  async obey(order: Order): Promise<number> {
    if (order.what === 'clock') return (this.#elapsedMs = order.elapsedMs);
    if (order.what === 'send') return this.#send(order.priority, order.requests);
    this.#gate.throttled(order.retryAfterMs);
    return 0;
  }

  /** @returns how many left before nobody had room */
  async #send(priority: RequestPriority, requests: number): Promise<number> {
    let sent = 0;
    const stop = new AbortController();
    this.#gate.changedElsewhere();
    const asked = Array.from({ length: requests }, () =>
      this.#gate.take(priority, stop.signal).then(
        () => void (sent += 1),
        () => undefined,
      ),
    );
    const all = Promise.all(asked).then(() => true);
    const isFull = () => {
      const { used, blockedMs } = this.#gate.snapshot();
      return used >= this.#limit || blockedMs > 0;
    };
    const pause = () => new Promise<false>((resolve) => setTimeout(resolve, 2, false));
    while (!isFull()) if (await Promise.race([all, pause()])) break;
    stop.abort();
    await all;
    return sent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gate[Symbol.asyncDispose]();
    await this.#pool.end();
  }
}
