import type { RetryPolicy } from '../file/backoff.ts';
import type { Facts } from '../file/facts.ts';
import type { AmendStore, Clock, VideoHost } from '../file/ports.ts';
import type { Rows } from '../file/rows.ts';
import { createBackoffs } from './backoffs.ts';
import type { Logger } from '../../log/logger.ts';

export interface AmendWorld {
  readonly store: AmendStore;
  readonly rows: Pick<Rows, 'claim' | 'isHeld'>;
  readonly host: Pick<VideoHost, 'amend'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retry: () => RetryPolicy;
  /** There is more to do at this time of the monotonic clock. */
  readonly ringAt?: (name: string, at: number) => void;
}

/** Sends the metadata that late sidecars changed. */
export interface Amend {
  run(signal: AbortSignal): Promise<void>;
}

/** Videos of one round. */
const atOnce = 8;

export function createAmend({ store, rows, host, clock, logger, retry, ringAt }: AmendWorld): Amend {
  const backoffs = createBackoffs(clock, retry, (at) => ringAt?.('amend', at));

  /** What a still later sidecar wants is kept, and so sent next. */
  const clear = async (sent: Facts, note: string): Promise<void> => {
    await rows.claim(sent.id, async (row) => {
      if (JSON.stringify(row.facts.amendment) === JSON.stringify(sent.amendment))
        await row.write({ amendment: null }, note);
    });
  };

  /** The request holds no row: what else happens to the file need not wait for it. */
  const send = async (facts: Facts, signal: AbortSignal): Promise<void> => {
    const { id, videoId, amendment } = facts;
    if (amendment === null || videoId === null) return;
    const answer = await host.amend(videoId, amendment, signal);
    if (signal.aborted) return;
    if (answer.ok) {
      await clear(facts, `metadata sent: ${Object.keys(amendment).join(', ')}`);
      backoffs.forget(id);
    } else if (!backoffs.retryAfter(id, answer.failure)) {
      const { message } = answer.failure;
      logger.warn('The service did not take the metadata of a late sidecar', {
        file: id,
        path: facts.path,
        why: message,
      });
      await clear(facts, `metadata refused: ${message}`);
    }
  };

  return {
    run: async (signal) => {
      for (const facts of await store.toAmend(atOnce + backoffs.size())) {
        if (signal.aborted) return;
        // While somebody works on the file its row cannot be cleared, and the same would be sent again and again.
        if (!backoffs.isBackingOff(facts.id) && !rows.isHeld(facts.id)) await send(facts, signal);
      }
    },
  };
}
