import type { Ask } from '../../../src/fleet/host-table.ts';

/** The budget's row of a PostgreSQL that answers after a while, of which the clock can be set. shared-budget.pg.test.ts asks the real one. */
export class FakeTable {
  row: { spent: string; rev: number } | null = null;
  /** What its clock has over that of the machine, in milliseconds. */
  ahead = 0;
  /** How long a question takes each way, in milliseconds. */
  latencyMs: () => number = () => 0.5;
  isAway = false;
  /** The next swap is stored, and its answer is lost. */
  losesAnswer = false;
  statements = 0;
  swaps = 0;
  beaten = 0;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => Date.now()) {
    this.#nowMs = nowMs;
  }

  /** A connection of one host. */
  connect(): Ask {
    return async (text, values) => {
      await this.#travel();
      if (this.isAway) throw new Error('PostgreSQL does not answer');
      this.statements += 1;
      const rows = text.includes('UPDATE') ? this.#swap(values) : this.#other(text, values);
      await this.#travel();
      return rows;
    };
  }

  #other(text: string, values: readonly unknown[]): readonly Record<string, unknown>[] {
    if (text.includes('INSERT')) this.row ??= { spent: String(values[0]), rev: 0 };
    return this.row === null || text.includes('INSERT') ? [] : [this.#answer()];
  }

  #swap(values: readonly unknown[]): readonly Record<string, unknown>[] {
    if (this.row === null) return [];
    const [from, , seen, shift, minute] = values.map(Number) as [number, number, number, number, number];
    const isMinute = Math.floor((this.#clock() + shift) / 60_000) === minute;
    this.swaps += 1;
    if (this.row.rev !== from || !isMinute) {
      this.beaten += 1;
      return [{ swapped: null, ...this.#answer() }];
    }
    this.row = { spent: String(values[1]), rev: Math.max(this.row.rev, seen) + 1 };
    if (this.losesAnswer) {
      this.losesAnswer = false;
      throw new Error('the connection was cut');
    }
    return [{ swapped: this.row.rev, ...this.#answer() }];
  }

  #answer(): Record<string, unknown> {
    return { ...this.row, now: this.#clock() };
  }

  #clock(): number {
    return this.#nowMs() + this.ahead;
  }

  async #travel(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.latencyMs()));
  }
}
