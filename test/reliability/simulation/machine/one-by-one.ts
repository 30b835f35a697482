import type pg from 'pg';

/** Kept before anything replaces it. */
const realTimeout = setTimeout;

/** A statement that was not answered by then may wait for a lock. */
const lookForBlockMs = 5;

interface Errand {
  readonly client: pg.Client;
  isDone: boolean;
  /** Tells whoever asked. */
  answer(): void;
  readonly done: Promise<void>;
}

/**
 * What a real server is asked, in an order that no real clock decides: a statement leaves when the one before was answered, or waits for what
 * another connection holds; answers come back in the order of the questions. Otherwise the faster of two answers would draw the first random number.
 */
export class OneByOne {
  readonly #waiting: (() => Errand)[] = [];
  #blocked: readonly Errand[] = [];
  #isBusy = false;
  readonly #isBlocked: (pid: number) => Promise<boolean>;

  /** @param isBlocked whether a connection waits for another one, by its process id */
  constructor(isBlocked: (pid: number) => Promise<boolean>) {
    this.#isBlocked = isBlocked;
  }

  ask<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
    const answer = Promise.withResolvers<T>();
    this.#waiting.push(() => {
      const errand = { client, isDone: false, answer: () => undefined as void };
      const over = (tell: () => void): void => void Object.assign(errand, { isDone: true, answer: tell });
      const done = work().then(
        (value) => over(() => answer.resolve(value)),
        (error: unknown) => over(() => answer.reject(error)),
      );
      return Object.assign(errand, { done });
    });
    void this.#run();
    return answer.promise;
  }

  async #run(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const errand = next();
      await this.#untilItStands(errand);
      // It may have freed what others wait for.
      for (const one of this.#blocked) await this.#untilItStands(one);
      this.#tell([errand, ...this.#blocked]);
    }
    this.#isBusy = false;
  }

  #tell(errands: readonly Errand[]): void {
    for (const { answer } of errands.filter(({ isDone }) => isDone)) answer();
    this.#blocked = errands.filter(({ isDone }) => !isDone);
    // The server may give up one of two that wait for each other.
    for (const { done } of this.#blocked) void done.then(() => this.#isBusy || this.#tell(this.#blocked));
  }

  /** Until nothing more comes of it as long as nobody else does anything. */
  async #untilItStands(errand: Errand): Promise<void> {
    const { client, done } = errand;
    for (;;) {
      const patience = Promise.withResolvers<void>();
      const timer = realTimeout(patience.resolve, lookForBlockMs);
      await Promise.race([done, patience.promise]);
      clearRealTimeout(timer);
      if (errand.isDone || (await this.#isBlocked(processOf(client)))) return;
    }
  }
}

const clearRealTimeout = clearTimeout;

/** What `pg` does not declare. */
function processOf(client: pg.Client): number {
  return (client as unknown as { readonly processID: number | null }).processID ?? 0;
}
