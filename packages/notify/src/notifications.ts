import { createDelivery } from './delivery.ts';
import type { Delivery } from './delivery.ts';
import { createHeartbeats } from './heartbeats.ts';
import type { LocalClock, Logger, Outbox, TargetResults } from './ports.ts';
import type { Send } from './senders/send.ts';
import type { MessageTarget, NotifyTarget } from './target.ts';

/** Notifies people of events. The daemon never waits for notifications. */
export interface Notifications extends AsyncDisposable {
  /** Looks for news and sends due messages. The daemon calls it every few seconds. */
  tick(): Promise<void>;
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>;
}

/** Finds news and posts it to the outbox. */
export interface NewsDesk extends Disposable {
  /** @returns names of the targets with new messages */
  look(targets: readonly MessageTarget[]): Promise<readonly string[]>;
  /** Discards what was remembered for removed targets, so that a name that is configured again starts afresh. */
  forget(targets: readonly string[]): Promise<void>;
  /** Reloads the memory, because another host has sent messages in the meantime. */
  takeOver(): void;
  /** Stops looking for news, because no target is left. */
  close(): Promise<void>;
  /** False while any trouble has lasted long enough to be announced, even if the outbox rejects writes. */
  isWell(): boolean;
}

interface NotificationsWorld {
  readonly desk: NewsDesk;
  readonly outbox: Outbox;
  readonly results: TargetResults;
  readonly settings: () => Settings;
  /** Aborts when another host takes over; null while another host is sending. */
  readonly turn: () => AbortSignal | null;
  readonly send: Send;
  readonly logger: Logger;
  readonly now: () => number;
  readonly clock: LocalClock;
  /** Id of the outbox, which makes message ids unique across machines. */
  readonly id: string;
}

interface Settings {
  /** Remains the same array until the configuration changes. */
  readonly targets: readonly NotifyTarget[];
  /** Name of this host. */
  readonly host: string;
  /** Address of the host's status page, if other machines can reach it. */
  readonly page: string | undefined;
}

/** How long the ledger must fail before the heartbeat reports it. */
const refusedMs = 60_000;

/** How often a write to the ledger is tested if a heartbeat depends on it. */
const proofEveryMs = 60_000;

/**
 * Sends notifications according to the settings, and follows changes to them. Disposal returns quickly: undelivered
 * messages stay in the outbox for the next start.
 */
export function createNotifications(world: NotificationsWorld): Notifications {
  const { desk, logger, now } = world;
  const stop = new AbortController();
  const heartbeats = createHeartbeats({ ...world, signal: stop.signal });
  const outgoing = createOutgoing({ ...world, signal: stop.signal });
  let config: readonly NotifyTarget[] | null = null;
  let running: Promise<void> | null = null;
  let refusedSince: number | null = null;
  let provedAt = -Infinity;
  let lastTurn: AbortSignal | null = null;

  const lookForNews = async (notify: readonly NotifyTarget[]): Promise<void> => {
    const targets = notify.filter((target) => target.type !== 'heartbeat');
    if (config !== notify) await outgoing.change(targets);
    if (config !== null && config !== notify) await desk.forget(gone(config, targets));
    // Without targets no news is read, so a target that is added later gets none from that time.
    if (notify.length === 0) await desk.close();
    else {
      try {
        outgoing.wake(await desk.look(targets));
      } catch (error) {
        // Some messages may have been posted before the error.
        outgoing.wake(targets.map(({ name }) => name));
        throw error;
      }
    }
    config = notify;
  };

  /**
   * Tests a write to the ledger. An idle daemon writes nothing, and a heartbeat must not vouch for an untested ledger.
   */
  const proveLedger = async (): Promise<void> => {
    const at = now();
    if (Math.abs(at - provedAt) < proofEveryMs) return;
    await world.outbox.commit({ remember: { 'written to': at } });
    provedAt = at;
  };

  /**
   * Looks for news and sends messages if it is this host's turn. The hosts of a fleet share one memory and one outbox,
   * so only one of them sends.
   */
  const look = async (): Promise<void> => {
    const turn = world.turn();
    if (turn === null) return;
    const { targets: notify } = world.settings();
    if (turn !== lastTurn) {
      desk.takeOver();
      outgoing.wake(notify.map(({ name }) => name));
      lastTurn = turn;
    }
    try {
      await lookForNews(notify);
      if (notify.some(({ type }) => type === 'heartbeat')) await proveLedger();
      refusedSince = null;
    } catch (error) {
      // The ledger rejects writes for now, for example because of a full disk; the next look follows within seconds.
      refusedSince ??= now();
      logger.debug('Notifications wait', { err: error });
    }
    outgoing.tick();
    // A daemon that cannot write still reports failure; silence would suggest a dead machine.
    const isRefused = refusedSince !== null && Math.abs(now() - refusedSince) >= refusedMs;
    heartbeats.tick(
      notify.filter((target) => target.type === 'heartbeat'),
      desk.isWell() && !isRefused,
    );
  };

  const idle = async (): Promise<void> => {
    await running;
    await Promise.all([outgoing.idle(), heartbeats.idle()]);
  };
  return {
    idle,
    tick: () =>
      (running ??= look().finally(() => {
        running = null;
      })),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      desk[Symbol.dispose]();
      await idle();
    },
  };
}

/** Returns the names of removed targets. */
function gone(before: readonly NotifyTarget[], targets: readonly MessageTarget[]): readonly string[] {
  return before.flatMap(({ name }) => (targets.some((target) => target.name === name) ? [] : [name]));
}

/** Creates the deliveries to all targets. */
function createOutgoing(world: NotificationsWorld & { readonly signal: AbortSignal }): {
  change(targets: readonly MessageTarget[]): Promise<void>;
  wake(names: readonly string[]): void;
  tick(): void;
  idle(): Promise<void>;
} {
  const { outbox, results, logger, now, signal } = world;
  const deliveries = new Map<string, Delivery & { readonly end: AbortController }>();
  const begin = (target: MessageTarget): Delivery & { readonly end: AbortController } => {
    const end = new AbortController();
    const delivery = createDelivery(target, {
      ...world,
      ...world.settings(),
      signal: AbortSignal.any([signal, end.signal]),
    });
    return { ...delivery, end };
  };
  return {
    change: async (targets) => {
      const names = new Set(targets.map(({ name }) => name));
      for (const [name, messages] of await outbox.countWaiting()) {
        if (names.has(name)) continue;
        logger.warn('The messages for a notification target that is no longer configured were dropped', {
          target: name,
          messages,
        });
        await outbox.trim(name, { newest: 0, since: 0 });
      }
      for (const [name, { end }] of deliveries) {
        if (names.has(name)) continue;
        end.abort();
        deliveries.delete(name);
        results.gone(name);
      }
      for (const target of targets) {
        const known = deliveries.get(target.name);
        if (known === undefined) deliveries.set(target.name, begin(target));
        else known.change(target);
      }
    },
    wake: (names) => {
      for (const name of names) deliveries.get(name)?.wake();
    },
    tick: () => {
      for (const delivery of deliveries.values()) delivery.tick(now());
    },
    idle: async () => {
      await Promise.all([...deliveries.values()].map((delivery) => delivery.idle()));
    },
  };
}
