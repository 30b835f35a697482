import type { Clock } from './file/ports.ts';
import { failureOfMachine } from './file/failure.ts';
import { createWakeUp } from './wake-up.ts';
import type { WakeUp } from './wake-up.ts';

/** The longest it sleeps. What can be done earlier rings: this is for what nobody foresaw, as a wall clock that was set. */
const tickMs = 1_000;

export interface LoopWorld {
  readonly clock: Clock;
  /** Looks at everything once. */
  tick(): Promise<void>;
  /** A tick broke. */
  broke(error: unknown): void;
}

/** Ticks at least once a second, and whenever something changed. */
export class Loop implements Pick<WakeUp, 'ringAt'> {
  readonly #world: LoopWorld;
  readonly #wakeUp: WakeUp;
  #progressedAt: number;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(world: LoopWorld) {
    this.#world = world;
    this.#wakeUp = createWakeUp(world.clock);
    this.#progressedAt = world.clock.elapsed();
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when the present tick has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.wake();
    await this.#running;
  }

  wake(): void {
    this.#wakeUp.ring();
  }

  ringAt(name: string, at: number): void {
    this.#wakeUp.ringAt(name, at);
  }

  /** It got on, also in the middle of a tick. */
  progressed(): void {
    this.#progressedAt = this.#world.clock.elapsed();
  }

  progressedAt(): number {
    return this.#progressedAt;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#world.tick();
        this.progressed();
      } catch (error) {
        this.#world.broke(error);
        // A full disk is waited for, not restarted for.
        if (failureOfMachine(error) !== null) this.progressed();
      }
      await this.#wakeUp.wait(tickMs);
    }
  }
}
