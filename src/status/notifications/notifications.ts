import type { Config } from '../../config/config.ts';
import type { MessageTarget } from '../../config/notify-config.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import type { Logger } from '../../log/logger.ts';
import { createDelivery } from './delivery.ts';
import type { Delivery } from './delivery.ts';
import { createHeartbeats } from './heartbeats.ts';
import { createNewsDesk } from './news-desk.ts';
import type { NewsDeskWorld } from './news-desk.ts';
import { createSend } from './senders/send.ts';
import type { Send } from './senders/send.ts';

/** Tells people what happens. Nothing in the daemon waits for it. */
export interface Notifications extends AsyncDisposable {
  /** Looks what is to be told and what is to be sent. The daemon calls it every few seconds. */
  tick(): Promise<void>;
  /** When nothing is on its way. */
  idle(): Promise<void>;
}

export interface NotificationsWorld extends NewsDeskWorld {
  readonly daemon: NewsDeskWorld['daemon'] & Pick<Daemon, 'config' | 'turn'>;
  readonly logger: Logger;
  /** Commands get some of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly send?: Send;
}

/** How often to check for news. */
const everyMs = 5_000;

/** How long the ledger must refuse before the heartbeat reports it. */
const refusedMs = 60_000;

/** How often to try a write to the ledger where a heartbeat depends on it. */
const proofEveryMs = 60_000;

/**
 * Starts to tell people what happens, as the configuration of the daemon says, also after it is reloaded. Disposing it leaves at once
 * what a target has not taken, for the next start.
 */
export function startNotifications(world: NotificationsWorld): Notifications {
  const notifications = createNotifications(world);
  // What an earlier run left is sent at once.
  void notifications.tick();
  const timer = setInterval(() => void notifications.tick(), everyMs);
  return {
    ...notifications,
    [Symbol.asyncDispose]: () => {
      clearInterval(timer);
      return notifications[Symbol.asyncDispose]();
    },
  };
}

/** The same, without a timer. */
export function createNotifications(world: NotificationsWorld): Notifications {
  const { daemon, logger, now, env } = world;
  const stop = new AbortController();
  const desk = createNewsDesk(world);
  const heartbeats = createHeartbeats({ ...world, messageTargets: daemon.messageTargets, signal: stop.signal });
  const outgoing = createOutgoing({ ...world, send: world.send ?? createSend(env), signal: stop.signal });
  let config: Config['notify'] | null = null;
  let running: Promise<void> | null = null;
  let refusedSince: number | null = null;
  let provedAt = -Infinity;
  let lastTurn: AbortSignal | null = null;

  const lookForNews = async (notify: Config['notify']): Promise<void> => {
    const targets = notify.filter((target) => target.type !== 'heartbeat');
    if (config !== notify) await outgoing.change(targets);
    if (config !== null && config !== notify) await desk.forget(gone(config, targets));
    // Without a target nothing is read, and what happens then is no news for those that come later.
    if (notify.length === 0) await desk.close();
    else {
      try {
        outgoing.wake(await desk.look(targets));
      } catch (error) {
        // Some of it may have been posted.
        outgoing.wake(targets.map(({ name }) => name));
        throw error;
      }
    }
    config = notify;
  };

  /** While nothing happens, nothing is written: only a heartbeat would vouch for a ledger that nobody tried. */
  const proveLedger = async (): Promise<void> => {
    const at = now();
    if (Math.abs(at - provedAt) < proofEveryMs) return;
    await daemon.ledger.news.commit({ remember: { 'written to': at } });
    provedAt = at;
  };

  /** The hosts of a fleet have one memory of what was told, and one outbox: one of them tells. */
  const look = async (): Promise<void> => {
    const turn = daemon.turn.signal();
    if (turn === null) return;
    const { notify } = daemon.config();
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
      // The ledger refuses at present, as with a full disk: the next look comes in seconds.
      refusedSince ??= now();
      logger.debug('Notifications wait', { err: error });
    }
    outgoing.tick();
    // Also a daemon that can write nothing says that something is wrong: without a word it would be taken for dead.
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

/** Names of those that are targets no more. */
function gone(before: Config['notify'], targets: readonly MessageTarget[]): readonly string[] {
  return before.flatMap(({ name }) => (targets.some((target) => target.name === name) ? [] : [name]));
}

/** A proxy serves the page under this name; the address that dropcast listens on leads nowhere from another machine. */
function pageOf({ hosts: [name] }: Config['status']): string | undefined {
  return name === undefined ? undefined : `https://${name}/`;
}

/** The ways to all targets. */
function createOutgoing(world: NotificationsWorld & { readonly send: Send; readonly signal: AbortSignal }): {
  change(targets: readonly MessageTarget[]): Promise<void>;
  wake(names: readonly string[]): void;
  tick(): void;
  idle(): Promise<void>;
} {
  const { daemon, logger, now, signal } = world;
  const rows = daemon.ledger.news;
  const deliveries = new Map<string, Delivery & { readonly end: AbortController }>();
  const begin = (target: MessageTarget): Delivery & { readonly end: AbortController } => {
    const end = new AbortController();
    const delivery = createDelivery(target, {
      ...world,
      messageTargets: daemon.messageTargets,
      rows,
      id: daemon.ledger.id.slice(0, 8),
      host: daemon.config().hostName,
      page: pageOf(daemon.config().status),
      signal: AbortSignal.any([signal, end.signal]),
    });
    return { ...delivery, end };
  };
  return {
    change: async (targets) => {
      const names = new Set(targets.map(({ name }) => name));
      for (const [name, messages] of await rows.countWaiting()) {
        if (names.has(name)) continue;
        logger.warn('The messages for a notification target that is no longer configured were dropped', {
          target: name,
          messages,
        });
        await rows.trim(name, { newest: 0, since: 0 });
      }
      for (const [name, { end }] of deliveries) {
        if (names.has(name)) continue;
        end.abort();
        deliveries.delete(name);
        daemon.messageTargets.gone(name);
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
