import { isObstacle } from '../view/waits.ts';
import type { Wait } from '../view/waits.ts';

/**
 * `away`: the fleet's database is not responding. `waiting`: everything is waiting. `frozen`: files in some folders are
 * waiting. `paused`: an operator paused everything or some folders.
 */
export type Health = 'ok' | 'away' | 'waiting' | 'frozen' | 'paused';

/**
 * Returns one word for monitoring. A folder without file events still counts as healthy, because scans find its files.
 * Pure.
 */
export function healthOf(waits: readonly Wait[]): Health {
  const causes = new Set(waits.map(({ cause }) => cause));
  if (causes.has('database')) return 'away';
  // A used-up quota is expected, and ends at a known time or after an hourly try.
  if (waits.some((wait) => isObstacle(wait) && wait.cause !== 'quota')) return 'waiting';
  if (causes.has('folder')) return 'frozen';
  return causes.has('paused') ? 'paused' : 'ok';
}
