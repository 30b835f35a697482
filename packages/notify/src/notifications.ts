import { createDelivery } from './delivery.ts';
import type { Delivery } from './delivery.ts';
import { createHeartbeats } from './heartbeats.ts';
import type { LocalClock, Logger, Outbox, TargetResults } from './ports.ts';
import type { Send } from './senders/send.ts';
import type { MessageTarget, NotifyTarget } from './target.ts';

/** Notifies people of events. The daemon never waits for it. */
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
  /** Forgets what was remembered for removed targets: a name that is configured again starts anew. */
  forget(targets: readonly string[]): Promise<void>;
  /** Reads the memory again, because another host has sent messages in the meantime. */
  takeOver(): void;
  /** Stops looking, because no target is left. */
  close(): Promise<void>;
  /** False while a trouble lasts long enough to be announced, even when the outbox rejects writes. */
  isWell(): boolean;
}

export interface NotificationsWorld {
  readonly desk: NewsDesk;
  readonly outbox: Outbox;
  readonly results: TargetResults;
  readonly settings: () => Settings;
  /** Aborts when another host takes over; null while another host sends. */
  readonly turn: () => AbortSignal | null;
  readonly send: Send;
  readonly logger: Logger;
  readonly now: () => number;
  readonly clock: LocalClock;
  /** Id of the outbox, for ids of messages that differ from machine to machine. */
  readonly id: string;
}

interface Settings {
  /** The same array until the configuration changes. */
  readonly targets: readonly NotifyTarget[];
  /** Name of this host. */
  readonly host: string;
  /** Address of its page, if other machines can reach one. */
  readonly page: string | undefined;
}

/** How long the ledger must fail before the heartbeat reports it. */
const refusedMs = 60_000;

/** How often a write to the ledger is tested if a heartbeat depends on it. */
const proofEveryMs = 60_000;

/**
 * Sends notifications as the settings say, and follows their changes. Disposing it returns quickly: undelivered
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
    // Without targets nothing is read; a target that is added later gets no news of that time.
    if (notify.length === 0) await desk.close();
    else {
      try {
        outgoing.wake(await desk.look(targets));
      } catch (error) {
        // Some messages may have been posted.
        outgoing.wake(targets.map(({ name }) => name));
        throw error;
      }
    }
    config = notify;
  };

  /** An idle daemon writes nothing, and a heartbeat must not vouch for a ledger that was not tried. */
  const proveLedger = async (): Promise<void> => {
    const at = now();
    if (Math.abs(at - provedAt) < proofEveryMs) return;
    await world.outbox.commit({ remember: { 'written to': at } });
    provedAt = at;
  };

  /** The hosts of a fleet share one memory and one outbox, so one of them sends. */
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
      // The ledger rejects writes for now, with a full disk for example; the next look follows in seconds.
      refusedSince ??= now();
      logger.debug('Notifications wait', { err: error });
    }
    outgoing.tick();
    // A daemon that cannot write still reports failure; silence would look like a dead machine.
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

/** Names of removed targets. */
function gone(before: readonly NotifyTarget[], targets: readonly MessageTarget[]): readonly string[] {
  return before.flatMap(({ name }) => (targets.some((target) => target.name === name) ? [] : [name]));
}

/** The deliveries to all targets. */
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
