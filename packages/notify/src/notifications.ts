import { createDelivery } from './delivery.ts';
import type { Delivery } from './delivery.ts';
import type { LocalClock } from './digest.ts';
import { createHeartbeats } from './heartbeats.ts';
import type { Logger } from './logger.ts';
import type { Outbox, TargetResults } from './outbox.ts';
import type { Send } from './senders/send.ts';
import type { MessageTarget, NotifyTarget } from './target.ts';

/** Tells people what happens. Nothing in the daemon waits for it. */
export interface Notifications extends AsyncDisposable {
  /** Looks what is to be told and what is to be sent. The daemon calls it every few seconds. */
  tick(): Promise<void>;
  /** When nothing is on its way. */
  idle(): Promise<void>;
}

/** Finds out what there is to tell, and posts it. */
export interface NewsDesk extends Disposable {
  /** @returns names of the targets that something was posted for */
  look(targets: readonly MessageTarget[]): Promise<readonly string[]>;
  /** Who is no target any more has no memory: if the name comes back, it begins anew. */
  forget(targets: readonly string[]): Promise<void>;
  /** Another host has told what there was meanwhile: what is remembered is read again. */
  takeOver(): void;
  /** Nobody is to be told anything any more. */
  close(): Promise<void>;
  /** Whether nothing has been wrong for so long that people are told. Also while the outbox refuses. */
  isWell(): boolean;
}

export interface NotificationsWorld {
  readonly desk: NewsDesk;
  readonly outbox: Outbox;
  readonly results: TargetResults;
  readonly settings: () => Settings;
  /** Fires when another host begins to tell; null: another one does. */
  readonly turn: () => AbortSignal | null;
  readonly send: Send;
  readonly logger: Logger;
  readonly now: () => number;
  readonly clock: LocalClock;
  /** Of the outbox, for ids that differ from machine to machine. */
  readonly id: string;
}

interface Settings {
  /** The same list as long as it was not changed. */
  readonly targets: readonly NotifyTarget[];
  /** Name of this host. */
  readonly host: string;
  /** Address of its page, if other machines know one. */
  readonly page: string | undefined;
}

/** How long the ledger must refuse before the heartbeat reports it. */
const refusedMs = 60_000;

/** How often to try a write to the ledger where a heartbeat depends on it. */
const proofEveryMs = 60_000;

/**
 * Tells people what happens, as the settings say, also after they are changed. Disposing it leaves at once what a target has not
 * taken, for the next start.
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
    await world.outbox.commit({ remember: { 'written to': at } });
    provedAt = at;
  };

  /** The hosts of a fleet have one memory of what was told, and one outbox: one of them tells. */
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
function gone(before: readonly NotifyTarget[], targets: readonly MessageTarget[]): readonly string[] {
  return before.flatMap(({ name }) => (targets.some((target) => target.name === name) ? [] : [name]));
}

/** The ways to all targets. */
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
