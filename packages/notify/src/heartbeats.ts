import type { HeartbeatTarget } from './target.ts';
import type { Logger, TargetResults } from './ports.ts';
import { placeOf } from './senders/send.ts';
import { beat } from './senders/http.ts';

/**
 * Requests the heartbeat addresses every few minutes. A monitor that misses the requests reports this machine as dead.
 */
interface Heartbeats {
  /** Starts due requests and returns immediately. @param isWell false requests the failure address instead */
  tick(targets: readonly HeartbeatTarget[], isWell: boolean): void;
  idle(): Promise<void>;
}

interface Beating {
  dueAt: number;
  wasWell: boolean;
  isFailing: boolean;
  running: Promise<void> | null;
}

export function createHeartbeats(world: {
  readonly now: () => number;
  readonly logger: Logger;
  readonly results: TargetResults;
  readonly signal: AbortSignal;
}): Heartbeats {
  const { now, logger, results, signal } = world;
  const hearts = new Map<string, Beating>();

  const ask = async (target: HeartbeatTarget, isWell: boolean, heart: Beating): Promise<void> => {
    const sent = await beat(target, isWell, { timeoutMs: target.timeoutMs, signal });
    heart.running = null;
    // The target may have been removed.
    if (sent === null || signal.aborted || hearts.get(target.name) !== heart) return;
    if (!sent.ok && !heart.isFailing)
      logger.warn('A heartbeat address does not answer', {
        target: target.name,
        place: placeOf(target),
        why: sent.why,
      });
    if (sent.ok && heart.isFailing) logger.info('A heartbeat address answers again', { target: target.name });
    heart.isFailing = !sent.ok;
    if (sent.ok) results.took(target);
    else results.refused(target, sent.why, now());
  };

  return {
    tick: (targets, isWell) => {
      const names = new Set(targets.map(({ name }) => name));
      for (const name of hearts.keys()) {
        if (names.has(name)) continue;
        hearts.delete(name);
        results.gone(name);
      }
      for (const target of targets) {
        const heart = hearts.get(target.name) ?? { dueAt: 0, wasWell: isWell, isFailing: false, running: null };
        hearts.set(target.name, heart);
        // A change of health is reported immediately. A clock that was set back must not delay the next request.
        const isDue = now() >= heart.dueAt || heart.dueAt - now() > target.everyMs || heart.wasWell !== isWell;
        if (!isDue || heart.running !== null || signal.aborted) continue;
        heart.dueAt = now() + target.everyMs;
        heart.wasWell = isWell;
        heart.running = ask(target, isWell, heart);
      }
    },
    idle: async () => {
      await Promise.all([...hearts.values()].map(async ({ running }) => running));
    },
  };
}
