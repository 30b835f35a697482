import type { Logger } from '../log/logger.ts';
import type { Notifier } from './notifier.ts';

/** After so long without a turn the loop is said to stand still. Only said by us: the signal of systemd leaves no time for it. */
const stillShare = 1 / 2;

/**
 * Sends `WATCHDOG=1` every quarter of the interval, twice as often as sd_watchdog_enabled(3) asks, but only if the working loop has
 * turned since the last time. A loop that stands still is therefore ended by systemd at most one interval and a quarter after its
 * last turn, and started again; one that comes back sooner, after a pause of up to half an interval, costs nothing.
 *
 * Turning is the end of a tick of the conductor, or one more row inside a long one: releasing 10,000 files with a write each may
 * take minutes and is no hang. A tick that waits for a promise that never settles, or for the ledger, does not turn; with an
 * event loop that stands still nothing here runs at all. A folder that does not answer (a dead share) is none of this: a restart
 * would not bring it back.
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
  const restMs = { alive: intervalMs / 4, late: Math.min(intervalMs / 8, 1_000) };
  let timer: NodeJS.Timeout;
  let lastTurn = -Infinity;
  let isLate = false;
  let isTold = false;
  const look = (): void => {
    const turn = turnedAt();
    const isAlive = turn > lastTurn;
    if (isAlive) notifier.send({ WATCHDOG: '1' });
    const stoodMs = performance.now() - turn;
    // After a pause of everything this look comes before the turn of the loop: the next one tells.
    if (isLate && !isAlive && !isTold && stoodMs > intervalMs * stillShare) {
      logger.error('The working loop stands still', { stoodMs: Math.round(stoodMs), intervalMs });
      isTold = true;
    }
    lastTurn = turn;
    isLate = !isAlive;
    isTold &&= isLate;
    timer = setTimeout(look, isAlive ? restMs.alive : restMs.late);
  };
  look();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
