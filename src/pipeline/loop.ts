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
  #turnedAt: number;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(world: LoopWorld) {
    this.#world = world;
    this.#wakeUp = createWakeUp(world.clock);
    this.#turnedAt = world.clock.elapsed();
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
  turn(): void {
    this.#turnedAt = this.#world.clock.elapsed();
  }

  turnedAt(): number {
    return this.#turnedAt;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#world.tick();
        this.turn();
      } catch (error) {
        this.#world.broke(error);
        // A full disk is waited for, not restarted for.
        if (failureOfMachine(error) !== null) this.turn();
      }
      await this.#wakeUp.wait(tickMs);
    }
  }
}
