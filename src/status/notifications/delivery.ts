import { isInWindow } from '../../config/day-window.ts';
import type { MessageTarget } from '../../config/notify-config.ts';
import type { DeafTargets } from '../../daemon/deaf-targets.ts';
import type { NewsRows } from '../../ledger/news-rows.ts';
import type { Logger } from '../../log/logger.ts';
import { nextBatch } from './digest.ts';
import { placeOf } from './senders/send.ts';
import type { Send } from './senders/send.ts';
import type { Sent } from './senders/sent.ts';

/** The way of messages from the outbox to one target: in order, one at a time, again and again until it takes them. */
export interface Delivery {
  readonly name: string;
  change(target: MessageTarget): void;
  /** Something was posted. */
  wake(): void;
  /** Sends what is due. Returns at once; what it begins ends with the signal. */
  tick(now: number): void;
  /** When nothing is under way any more. */
  idle(): Promise<void>;
}

export interface DeliveryWorld {
  readonly rows: NewsRows;
  readonly send: Send;
  readonly logger: Logger;
  /** Told whether the target takes messages. */
  readonly deafTargets: Pick<DeafTargets, 'told'>;
  readonly now: () => number;
  /** Of the ledger. */
  readonly id: string;
  readonly signal: AbortSignal;
}

/** Rows that one digest may stand for. */
export const mostWaiting = 500;

const firstPauseMs = 10_000;
const longestPauseMs = 15 * 60_000;

/** A message that was refused so often is given up: the next ones wait behind it. */
const mostRefusals = 5;

export function createDelivery(initial: MessageTarget, world: DeliveryWorld): Delivery {
  const { rows, logger, signal, deafTargets } = world;
  const { name } = initial;
  let target = initial;
  let failures = 0;
  let notBefore = 0;
  // What an earlier run left.
  let mayWait = true;
  let running: Promise<void> | null = null;

  const deliver = async (): Promise<void> => {
    while (!signal.aborted) {
      const waiting = await rows.waiting(name, mostWaiting);
      if (waiting.length === 0) {
        mayWait = false;
        return;
      }
      const dropped = Number((await rows.recall(droppedName(name))) ?? 0);
      const { seqs, envelope } = nextBatch(waiting, { quiet: target.quiet, dropped, now: world.now(), id: world.id });
      await rows.markTried(seqs, world.now());
      const sent = await world.send(target, envelope, signal);
      if (!sent.ok) return refused(seqs, sent, waiting[0]?.refusals ?? 0);
      if (dropped > 0) await rows.commit({ remember: { [droppedName(name)]: null } });
      await rows.remove(seqs);
      if (failures > 0) logger.info('A notification target takes messages again', { target: name });
      failures = 0;
      deafTargets.told(name, null, world.now());
    }
  };

  const refused = async (
    seqs: readonly number[],
    sent: Extract<Sent, { ok: false }>,
    before: number,
  ): Promise<void> => {
    if (signal.aborted) return;
    if (!sent.isRefusal && !sent.mayHaveArrived) await rows.markTried(seqs, null);
    if (sent.isRefusal) await rows.markRefused(seqs);
    const isGivenUp = sent.isRefusal && before + 1 >= mostRefusals;
    if (isGivenUp) {
      const dropped = Number((await rows.recall(droppedName(name))) ?? 0) + seqs.length;
      await rows.commit({ remember: { [droppedName(name)]: dropped } });
      await rows.remove(seqs);
    }
    const pauseMs = Math.max(sent.retryAfterMs ?? 0, Math.min(longestPauseMs, firstPauseMs * 2 ** failures));
    if (failures === 0 || isGivenUp)
      logger.warn(
        isGivenUp ? 'A notification was refused and is given up' : 'A notification target does not take messages',
        {
          target: name,
          place: placeOf(target),
          why: sent.why,
          next: new Date(world.now() + pauseMs).toISOString(),
        },
      );
    failures += 1;
    deafTargets.told(name, sent.why, world.now());
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
      // A clock that was set back must not make anybody wait for the old time.
      if (now < notBefore && notBefore - now <= longestWaitMs) return;
      if (target.quiet !== null && isInWindow(target.quiet, now)) return;
      running = deliver()
        .catch((error: unknown) => {
          // The ledger refuses at present, as with a full disk.
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

/** A service may ask for an hour. */
const longestWaitMs = 3_600_000;

/** Under which the number of dropped messages is remembered. */
export function droppedName(target: string): string {
  return `dropped:${target}`;
}
