import type { MessageTarget } from './target.ts';
import { nextBatch } from './digest.ts';
import type { LocalClock, Logger, Outbox, TargetResults } from './ports.ts';
import { placeOf } from './senders/send.ts';
import type { Send } from './senders/send.ts';
import type { Sent } from './senders/sent.ts';

/**
 * Delivers messages from the outbox to one target, in order and one at a time, retrying until the target accepts them.
 */
export interface Delivery {
  readonly name: string;
  change(target: MessageTarget): void;
  /** Must be called after a message was posted. */
  wake(): void;
  /** Starts sending due messages and returns immediately. `DeliveryWorld.signal` ends the work. */
  tick(now: number): void;
  /** Resolves when no message is being sent. */
  idle(): Promise<void>;
}

interface DeliveryWorld {
  readonly outbox: Outbox;
  readonly send: Send;
  readonly logger: Logger;
  readonly results: TargetResults;
  readonly now: () => number;
  /** Id of the outbox, which makes message ids unique across machines. */
  readonly id: string;
  /** Name of this host. */
  readonly host: string;
  /** Address of the host's status page, if other machines can reach it. */
  readonly page?: string | undefined;
  readonly clock: LocalClock;
  /** Stops sending; unsent messages stay in the outbox. */
  readonly signal: AbortSignal;
}

/** Maximum number of rows that one digest may cover. */
export const mostWaiting = 500;

const firstPauseMs = 10_000;
const longestPauseMs = 15 * 60_000;

/** A message is dropped after this many refusals, because later messages wait behind it. */
const mostRefusals = 5;

export function createDelivery(initial: MessageTarget, world: DeliveryWorld): Delivery {
  const { outbox, logger, signal, results, clock } = world;
  const { name } = initial;
  let target = initial;
  let failures = 0;
  let notBefore = 0;
  // An earlier run may have left messages.
  let mayWait = true;
  let running: Promise<void> | null = null;

  const deliver = async (): Promise<void> => {
    while (!signal.aborted) {
      // Set again by any message posted from here on.
      mayWait = false;
      const waiting = await outbox.waiting(name, mostWaiting);
      if (waiting.length === 0) return;
      mayWait = true;
      const dropped = Number((await outbox.recall(droppedName(name))) ?? 0);
      const { seqs, envelope } = nextBatch(waiting, {
        quiet: target.quiet,
        dropped,
        now: world.now(),
        id: world.id,
        host: world.host,
        page: world.page,
        clock,
      });
      await outbox.markTried(seqs, world.now());
      const sent = await world.send(target, envelope, signal);
      if (!sent.ok) return refused(seqs, sent, waiting[0]?.refusals ?? 0);
      await outbox.commit({ remember: dropped > 0 ? { [droppedName(name)]: null } : {}, remove: seqs });
      if (failures > 0) logger.info('A notification target accepts messages again', { target: name });
      failures = 0;
      if (!signal.aborted) results.took(target);
    }
  };

  const refused = async (
    seqs: readonly number[],
    sent: Extract<Sent, { ok: false }>,
    before: number,
  ): Promise<void> => {
    if (signal.aborted) return;
    if (!sent.isRefusal && !sent.mayHaveArrived) await outbox.markTried(seqs, null);
    if (sent.isRefusal) await outbox.markRefused(seqs);
    const isGivenUp = sent.isRefusal && before + 1 >= mostRefusals;
    if (isGivenUp) {
      const dropped = Number((await outbox.recall(droppedName(name))) ?? 0) + seqs.length;
      await outbox.commit({ remember: { [droppedName(name)]: dropped }, remove: seqs });
    }
    const pauseMs = Math.max(sent.retryAfterMs ?? 0, Math.min(longestPauseMs, firstPauseMs * 2 ** failures));
    if (failures === 0 || isGivenUp)
      logger.warn(
        isGivenUp
          ? 'A notification target refused a message, which was dropped'
          : 'A notification target does not accept messages',
        {
          target: name,
          place: placeOf(target),
          why: sent.why,
          next: new Date(world.now() + pauseMs).toISOString(),
        },
      );
    failures += 1;
    results.refused(target, sent.why, world.now());
    if (isGivenUp) results.dropped(target, seqs.length);
    notBefore = world.now() + pauseMs;
  };

  return {
    name,
    change: (next) => {
      target = next;
      notBefore = 0;
    },
    wake: () => {
      mayWait = true;
    },
    tick: (now) => {
      if (running !== null || !mayWait || signal.aborted) return;
      // A clock that was set back must not delay messages until the old time.
      if (now < notBefore && notBefore - now <= longestWaitMs) return;
      if (target.quiet !== null && clock.isInWindow(target.quiet, now)) return;
      running = deliver()
        .catch((error: unknown) => {
          mayWait = true;
          // The ledger rejects writes for now, for example because of a full disk.
          notBefore = world.now() + firstPauseMs;
          logger.debug('A notification waits for the ledger', { target: name, err: error });
        })
        .finally(() => {
          running = null;
        });
    },
    idle: async () => {
      await running;
    },
  };
}

/** Longest wait that a service may request. */
const longestWaitMs = 3_600_000;

/** Returns the name under which the outbox remembers the number of dropped messages. */
export function droppedName(target: string): string {
  return `dropped:${target}`;
}
