import { isObstacle } from '../view/waits.ts';
import type { Wait } from '../view/waits.ts';

/**
 * `away`: the database of a fleet does not answer. `waiting`: everything waits. `frozen`: the files of some folders do.
 * `paused`: a person wants nothing, or nothing of some folders, to begin.
 */
export type Health = 'ok' | 'away' | 'waiting' | 'frozen' | 'paused';

/** Pure: one word, for monitoring. A folder without events is scanned instead: its files are found, so all is well. */
export function healthOf(waits: readonly Wait[]): Health {
  const causes = new Set(waits.map(({ cause }) => cause));
  if (causes.has('database')) return 'away';
  if (waits.some(isObstacle)) return 'waiting';
  if (causes.has('folder')) return 'frozen';
  return causes.has('paused') ? 'paused' : 'ok';
}
