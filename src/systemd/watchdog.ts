import type { Logger } from '../log/logger.ts';
import type { Notifier } from './notifier.ts';

/**
 * Sends `WATCHDOG=1` every half of the interval, as sd_watchdog_enabled(3) asks, but only while the working loop goes on: it must
 * have turned within the last half. A loop that stands still is therefore ended by systemd at most one interval after its last
 * ping, and started again.
 *
 * Turning is the end of a tick of the conductor, or one more row inside a long one: releasing 10,000 files with a write each may
 * take minutes and is no hang. A tick that waits for a promise that never settles, or for the ledger, does not turn; with an
 * event loop that stands still nothing here runs at all. A folder that does not answer (a dead share) is none of this: a restart
 * would not bring it back.
 *
 * When the loop comes back after standing still, the next look is soon, so that one long pause short of the interval costs nothing.
 *
 * @param options.intervalMs what systemd allows between two pings (`WatchdogSec=`)
 * @param options.turnedAt when the working loop last turned, on the clock of `performance.now()`
 */
export function keepAlive(options: {
  readonly notifier: Notifier;
  readonly logger: Logger;
  readonly intervalMs: number;
  readonly turnedAt: () => number;
}): Disposable {
  const { notifier, logger, intervalMs, turnedAt } = options;
  const halfMs = intervalMs / 2;
  let timer: NodeJS.Timeout;
  let wasAlive = true;
  const look = (): void => {
    const stoodMs = performance.now() - turnedAt();
    const isAlive = stoodMs <= halfMs;
    if (isAlive) notifier.send({ WATCHDOG: '1' });
    // Only said here: the signal of systemd leaves no time for it.
    else if (wasAlive) logger.error('The working loop stands still', { stoodMs: Math.round(stoodMs), intervalMs });
    wasAlive = isAlive;
    timer = setTimeout(look, isAlive ? halfMs : intervalMs / 8);
  };
  look();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
