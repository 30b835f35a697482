/** Random numbers that the same seed gives again. */
export class Random {
  #state: number;

  constructor(seed: number, stream = '') {
    let state = seed >>> 0;
    for (const letter of stream) state = Math.imul(state ^ letter.charCodeAt(0), 0x9e3779b1) >>> 0;
    this.#state = (state ^ 0x5bd1e995) >>> 0;
    this.next();
  }

  /** From 0 (included) to 1 (excluded). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from 0 to `count - 1`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  pick<T>(from: readonly T[]): T {
    const found = from[this.below(from.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  }
}

/** Draws the same always: what happens does not depend on how often somebody draws. */
export class Steady extends Random {
  readonly drawn: number;

  constructor(drawn: number) {
    super(0);
    this.drawn = drawn;
  }

  override next(): number {
    return this.drawn;
  }
}

/** Draws the middle, but for numbers of which no two may be alike, as those that names are made of. */
export class SteadyButNames extends Random {
  readonly #names: Random;

  constructor(seed: number, stream: string) {
    super(seed, stream);
    this.#names = new Random(seed, stream);
  }

  override next(): number {
    return 0.5;
  }

  override below(count: number): number {
    return this.#names.below(count);
  }
}
