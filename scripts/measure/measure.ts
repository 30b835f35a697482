/** A figure of a checkout. */
export interface Figure {
  /** What it is of, as `src/cli` or `one file, from drop to done`: the row of the table. */
  readonly of: string;
  /** What is counted, as `lines`: the column of the table. */
  readonly what: string;
  readonly value: number;
}

/** Figures that `--only` takes by name. */
export interface Part {
  readonly name: string;
  /** Takes minutes, so `--fast` leaves it out. */
  readonly isSlow?: true;
  /** Only this many rows are printed: the ones with the highest figures, in either checkout. */
  readonly most?: number;
  /** @param root of the checkout that is measured, which has its dependencies */
  figures(root: string): Promise<readonly Figure[]>;
}

/** A figure beside the one of another checkout; null where one of them has no such figure. */
export interface Compared extends Omit<Figure, 'value'> {
  readonly value: number | null;
  readonly against: number | null;
}

/** Both checkouts, in the order of the first; what only the other has comes last. */
export function compared(here: readonly Figure[], against: readonly Figure[]): readonly Compared[] {
  const keyOf = ({ of, what }: Omit<Figure, 'value'>): string => JSON.stringify([of, what]);
  const [ofHere, ofAgainst] = [here, against].map((all) => new Map(all.map((figure) => [keyOf(figure), figure])));
  return [...new Map([...here, ...against].map((figure) => [keyOf(figure), figure]))].map(([key, { of, what }]) => ({
    of,
    what,
    value: ofHere?.get(key)?.value ?? null,
    against: ofAgainst?.get(key)?.value ?? null,
  }));
}

/** The rows with the highest figures, in either checkout. */
export function highest(figures: readonly Compared[], most: number): readonly Compared[] {
  const top = (side: 'value' | 'against'): readonly Compared[] =>
    figures.toSorted((one, other) => (other[side] ?? 0) - (one[side] ?? 0)).slice(0, most);
  const kept = new Set([...top('value'), ...top('against').filter(({ against }) => against !== null)]);
  return figures.filter((figure) => kept.has(figure));
}
