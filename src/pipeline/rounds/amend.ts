import { isCounted } from '../file/backoff.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import type { Amendment, Facts } from '../file/facts.ts';
import type { Clock, FeedStore, VideoHost } from '../file/ports.ts';
import type { RowStore } from '../file/row-groups.ts';
import type { Rows } from '../file/rows.ts';
import { createBackoffs } from './backoffs.ts';
import type { Events } from '../events.ts';

export interface AmendWorld {
  readonly store: RowStore<'to amend'> & Pick<FeedStore, 'noteFeedDue'>;
  readonly rows: Pick<Rows, 'claim' | 'isHeld'>;
  readonly host: Pick<VideoHost, 'amend'>;
  readonly clock: Clock;
  readonly events: Events;
  readonly retry: () => RetryPolicy;
  /** Schedules a round for this time on the monotonic clock, when more work is due. */
  readonly ringAt?: (name: string, at: number) => void;
}

const atOnce = 8;

/**
 * Sends the metadata from late sidecars and changed rules, and has the feeds that already contain the video published
 * again.
 */
export function createAmend({ store, rows, host, clock, events, retry, ringAt }: AmendWorld) {
  // Only a refusal ends an amendment. Giving up after some failures would lose what an editor wrote.
  const backoffs = createBackoffs(
    clock,
    () => ({ ...retry(), attempts: Infinity }),
    (at) => ringAt?.('amend', at),
  );

  /** Clears the amendment that was sent. Changes from an even later sidecar stay in the row and are sent next. */
  const clear = async (sent: Facts, note: string): Promise<void> => {
    await rows.claim(sent.id, async (row) => {
      if (JSON.stringify(row.facts.amendment) === JSON.stringify(sent.amendment))
        await row.write({ amendment: null }, note);
    });
  };

  /** Sends an amendment without holding the row, so that the file's other events need not wait for the request. */
  const send = async (facts: Facts, signal: AbortSignal): Promise<void> => {
    const { id, videoId, amendment } = facts;
    if (amendment === null || videoId === null) return;
    const answer = isEmpty(amendment) ? nothingToSay : await host.amend(facts, signal);
    if (signal.aborted) return;
    if (answer.ok) {
      // The feed is recorded first. After a crash in between, both are repeated, which is harmless.
      for (const feed of feedsOf(facts)) await store.noteFeedDue(feed, clock.now(), false);
      await clear(facts, isEmpty(amendment) ? 'feeds are published again' : sentWords(amendment));
      backoffs.forget(id);
    } else if (!backoffs.retryAfter(id, answer.failure)) {
      const { message } = answer.failure;
      await clear(facts, `metadata refused: ${message}`);
      events.emit({
        type: 'refusal',
        facts,
        why: `the service did not accept the new metadata: ${message}`,
      });
    } else if (isCounted(answer.failure) && backoffs.attempts(id) === retry().attempts) {
      const why = `the new metadata failed ${retry().attempts} times and is still retried: ${answer.failure.message}`;
      events.emit({ type: 'refusal', facts, why });
    }
  };

  return {
    run: async (signal: AbortSignal): Promise<void> => {
      for (const facts of await store.rows({ group: 'to amend', limit: atOnce + backoffs.size() })) {
        if (signal.aborted) return;
        // A row held by a step cannot be cleared, so the same metadata would be sent again and again.
        if (!backoffs.isBackingOff(facts.id) && !rows.isHeld(facts.id)) await send(facts, signal);
      }
    },
  };
}

/** Whether only the feeds of the file changed, not its metadata. */
function isEmpty(amendment: Amendment): boolean {
  return Object.keys(amendment).length === 0;
}

const nothingToSay = { ok: true, value: null } as const;

function sentWords(amendment: Amendment): string {
  return `metadata sent: ${Object.keys(amendment).join(', ')}`;
}

/**
 * Returns the feeds that contain the video. A video that is not done yet is published in its other feeds once it is
 * ready.
 */
function feedsOf({ end, plan, published }: Facts): readonly string[] {
  return [...new Set([...Object.keys(published), ...(end === 'done' ? (plan?.publish ?? []) : [])])];
}
