import { createNotifications as createSending, createSend, type Notifications, type Send } from '@dropcast/notify';
import type { Config } from '../../config/config.ts';
import { isInWindow } from '../../config/day-window.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import type { Logger } from '../../log/logger.ts';
import { clockTime } from '../../view/words/text.ts';
import { createNewsDesk } from './news-desk.ts';

export interface NotificationsWorld {
  readonly daemon: Daemon;
  readonly now: () => number;
  readonly logger: Logger;
  /** Environment variables, some of which are passed to commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly send?: Send;
}

/** Interval between checks for news, in milliseconds. */
const everyMs = 5_000;

/** Starts notifications as configured, and follows reloads. Disposal returns quickly. */
export function startNotifications(world: NotificationsWorld): Notifications {
  const notifications = createNotifications(world);
  // Sends an earlier run's messages immediately.
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

/** Creates notifications without a timer. */
export function createNotifications({ daemon, logger, now, env, send }: NotificationsWorld): Notifications {
  const { ledger, turn, messageTargets } = daemon;
  return createSending({
    desk: createNewsDesk(daemon, now),
    outbox: ledger.news,
    results: messageTargets,
    settings: () => {
      const { notify, hostName, status } = daemon.config();
      return { targets: notify, host: hostName, page: pageOf(status) };
    },
    turn: () => turn.signal(),
    send: send ?? createSend(env),
    logger,
    now,
    clock: { timeOf: clockTime, isInWindow },
    id: ledger.id.slice(0, 8),
  });
}

/**
 * Returns the page's public address, which a proxy serves: the address that dropcast listens on is unreachable from
 * other machines.
 */
function pageOf({ hosts: [name] }: Config['status']): string | undefined {
  return name === undefined ? undefined : `https://${name}/`;
}
