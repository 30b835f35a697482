import { createHash } from 'node:crypto';

/** The checksum of a set of rows, in whatever order they come: a folder has another name on the other side, and so another place. */
export class RowSum {
  readonly #lanes = new BigUint64Array(4);
  #rows = 0;

  add(values: readonly unknown[]): void {
    const digest = createHash('sha256').update(JSON.stringify(values)).digest();
    for (const lane of this.#lanes.keys())
      this.#lanes[lane] = (this.#lanes[lane] ?? 0n) + digest.readBigUInt64BE(lane * 8);
    this.#rows += 1;
  }

  get rows(): number {
    return this.#rows;
  }

  get hex(): string {
    return [...this.#lanes].map((lane) => lane.toString(16).padStart(16, '0')).join('');
  }
}
