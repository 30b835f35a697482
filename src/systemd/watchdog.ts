import type { Logger } from '../log/logger.ts';
import type { Notifier } from './notifier.ts';

/**
 * Share of the interval after which a loop that does not turn is logged as stalled: the signal from systemd leaves no
 * time to log.
 */
const stalledShare = 1 / 2;

/**
 * Sends `WATCHDOG=1` every quarter of the interval, twice as often as sd_watchdog_enabled(3) asks, but only if the main
 * loop has turned since the last time. systemd therefore restarts a stalled daemon at most one interval and a quarter
 * after the last turn. A pause of up to half an interval costs nothing.
 *
 * A turn is the end of a tick of the conductor, or one more row inside a long tick: releasing 10,000 files with a write
 * each takes minutes and is not a hang. A tick that waits for the ledger, or for a promise that never settles, does not
 * turn. With a blocked event loop nothing here runs at all. A folder that does not answer (a dead share) does not
 * count: a restart would not bring it back.
 *
 * @param options.intervalMs longest time between two pings (`WatchdogSec=`)
 * @param options.progressedAt when the main loop last turned, on the clock of `performance.now()`
 */
export function keepAlive(options: {
  readonly notifier: Notifier;
  readonly logger: Logger;
  readonly intervalMs: number;
  readonly progressedAt: () => number;
}): Disposable {
  const { notifier, logger, intervalMs, progressedAt } = options;
  const waitMs = { alive: intervalMs / 4, late: Math.min(intervalMs / 8, 1_000) };
  let timer: NodeJS.Timeout;
  let lastTurn = -Infinity;
  let isLate = false;
  let isReported = false;
  const check = (): void => {
    const turn = progressedAt();
    const isAlive = turn > lastTurn;
    if (isAlive) notifier.send({ WATCHDOG: '1' });
    const stalledMs = performance.now() - turn;
    // After a pause of the whole process this check runs before the loop can turn, so only the next one reports.
    if (isLate && !isAlive && !isReported && stalledMs > intervalMs * stalledShare) {
      logger.error('The main loop has stalled', { stalledMs: Math.round(stalledMs), intervalMs });
      isReported = true;
    }
    lastTurn = turn;
    isLate = !isAlive;
    isReported &&= isLate;
    timer = setTimeout(check, isAlive ? waitMs.alive : waitMs.late);
  };
  check();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
