export type Labels = Readonly<Record<string, string | number>>;

/** Counts events by labels. */
export class Tally {
  readonly #counts = new Map<string, { readonly labels: Labels; count: number }>();

  add(labels: Labels, count = 1): void {
    const key = JSON.stringify(labels);
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { labels, count });
    else known.count += count;
  }

  list(): readonly { readonly labels: Labels; readonly count: number }[] {
    return [...this.#counts.values()];
  }
}

/** Durations with the same labels. */
export interface Times {
  readonly labels: Labels;
  readonly count: number;
  readonly sumSeconds: number;
  /** For each bucket, the number of durations above the previous bucket's bound and up to this one's. */
  readonly inBucket: readonly number[];
}

/** Bucket bounds in seconds: from a request answered immediately to an overnight upload. */
export const buckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200];

export class Durations {
  readonly #times = new Map<string, { labels: Labels; count: number; sumSeconds: number; inBucket: number[] }>();

  /** Includes the labels even if no duration is ever added. */
  expect(labels: Labels): void {
    this.#timesOf(labels);
  }

  add(labels: Labels, seconds: number): void {
    const times = this.#timesOf(labels);
    times.count += 1;
    times.sumSeconds += seconds;
    const bucket = buckets.findIndex((most) => seconds <= most);
    if (bucket >= 0) times.inBucket[bucket] = (times.inBucket[bucket] ?? 0) + 1;
  }

  list(): readonly Times[] {
    return [...this.#times.values()];
  }

  #timesOf(labels: Labels) {
    const key = JSON.stringify(labels);
    const known = this.#times.get(key);
    if (known !== undefined) return known;
    const times = { labels, count: 0, sumSeconds: 0, inBucket: buckets.map(() => 0) };
    this.#times.set(key, times);
    return times;
  }
}
