import type { Clock } from './file/ports.ts';
import { failureOfMachine } from './file/failure.ts';
import { createWakeUp } from './wake-up.ts';

/**
 * Longest sleep of the loop. Known work rings earlier; this limit is a safety net for surprises such as a clock change.
 */
const tickMs = 1_000;

/**
 * Longest sleep after some time without events, on a database that many hosts query. Other hosts usually notify this
 * one.
 */
const quietTickMs = 3_000;
const quietAfterMs = 10_000;

/**
 * Ticks whenever something has changed, and at least once a second, or every three seconds on a quiet shared database.
 *
 * @param world.isShared whether other hosts query the same database
 * @param world.tick checks once for work of every kind
 * @param world.broke receives the error of a failed tick
 */
export function createLoop(world: {
  readonly clock: Clock;
  readonly isShared: boolean;
  tick(): Promise<void>;
  broke(error: unknown): void;
}) {
  const { clock, isShared } = world;
  const wakeUp = createWakeUp(clock);
  let progressedAt = clock.elapsed();
  let rungAt = progressedAt;
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const wake = (): void => {
    rungAt = clock.elapsed();
    wakeUp.ring();
  };

  /** Records progress, including in the middle of a tick. */
  const progressed = (): void => {
    progressedAt = clock.elapsed();
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await world.tick();
        progressed();
      } catch (error) {
        world.broke(error);
        // A restart does not help against a full disk, so waiting counts as progress.
        if (failureOfMachine(error) !== null) progressed();
      }
      await wakeUp.wait(isShared && clock.elapsed() - rungAt > quietAfterMs ? quietTickMs : tickMs);
    }
  };

  return {
    wake,
    progressed,
    progressedAt: (): number => progressedAt,
    ringAt: wakeUp.ringAt,
    start: (): void => {
      running = run();
    },
    /** Resolves when the current tick has ended. */
    stop: async (): Promise<void> => {
      stopping.abort();
      wake();
      await running;
    },
  };
}
