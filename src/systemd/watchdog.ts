import type { Logger } from '../log/logger.ts';
import type { Notifier } from './notifier.ts';

/** Share of the interval after which a stalled loop is logged: once systemd sends its signal, it is too late to log. */
const stalledShare = 1 / 2;

/**
 * Sends `WATCHDOG=1` every quarter of the interval, twice as often as sd_watchdog_enabled(3) recommends, but only if
 * the main loop has turned since the last time. systemd therefore restarts a stalled daemon no later than one and a
 * quarter intervals after the last turn. Pauses of up to half an interval are harmless.
 *
 * A turn is the end of a conductor tick, or one more row within a long tick: releasing 10,000 files with a write each
 * takes minutes and is not a hang. A tick that is waiting for the ledger, or for a promise that never settles, does not
 * turn. With a blocked event loop, nothing here runs at all. A folder that does not respond (a dead share) does not
 * count, because a restart would not bring it back.
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
    // Reports only at the second late check: after a pause of the whole process, the first check runs before the loop
    // can turn.
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
