import type { Clock } from './file/ports.ts';
import { failureOfMachine } from './file/failure.ts';
import { createWakeUp } from './wake-up.ts';
import type { WakeUp } from './wake-up.ts';

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

export interface LoopWorld {
  readonly clock: Clock;
  /** Whether other hosts query the same database. */
  readonly isShared: boolean;
  /** Checks once for work of every kind. */
  tick(): Promise<void>;
  /** Receives the error of a failed tick. */
  broke(error: unknown): void;
}

/**
 * Ticks whenever something has changed, and at least once a second, or every three seconds on a quiet shared database.
 */
export class Loop implements Pick<WakeUp, 'ringAt'> {
  readonly #world: LoopWorld;
  readonly #wakeUp: WakeUp;
  #progressedAt: number;
  #rungAt: number;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(world: LoopWorld) {
    this.#world = world;
    this.#wakeUp = createWakeUp(world.clock);
    this.#progressedAt = world.clock.elapsed();
    this.#rungAt = this.#progressedAt;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when the current tick has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.wake();
    await this.#running;
  }

  wake(): void {
    this.#rungAt = this.#world.clock.elapsed();
    this.#wakeUp.ring();
  }

  ringAt(name: string, at: number): void {
    this.#wakeUp.ringAt(name, at);
  }

  /** Records progress, including in the middle of a tick. */
  progressed(): void {
    this.#progressedAt = this.#world.clock.elapsed();
  }

  progressedAt(): number {
    return this.#progressedAt;
  }

  #longestMs(): number {
    const { clock, isShared } = this.#world;
    return isShared && clock.elapsed() - this.#rungAt > quietAfterMs ? quietTickMs : tickMs;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#world.tick();
        this.progressed();
      } catch (error) {
        this.#world.broke(error);
        // A restart does not help against a full disk, so waiting counts as progress.
        if (failureOfMachine(error) !== null) this.progressed();
      }
      await this.#wakeUp.wait(this.#longestMs());
    }
  }
}
