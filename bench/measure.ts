import type { Bench, Build, Point, Row, Size } from './bench.ts';

/** The figures of one row: the rounds of one build. */
export interface Figures {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** What a run found, as it is kept in `bench/results/NAME.json`. */
export interface Result {
  readonly name: string;
  readonly about: string;
  readonly size: Size;
  readonly rounds: number;
  readonly limit?: string | undefined;
  readonly rows: readonly ResultRow[];
  readonly plots: readonly ResultPlot[];
  /** What the second column of figures is of. */
  readonly against?: string;
}

export interface ResultRow extends Row {
  /** Null: not measured. */
  readonly here: Figures | null;
  readonly against?: Figures | null;
}

export interface ResultPlot {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly isLogX: boolean;
  /** Name → points of the last round. */
  readonly series: Readonly<Record<string, readonly Point[]>>;
}

/** Runs all rounds, both builds in each, in turn: what disturbs the machine disturbs both. */
export async function measure(
  name: string,
  bench: Bench,
  options: {
    readonly builds: readonly [here: Build, against?: Build];
    readonly size: Size;
    readonly rounds: number;
    readonly progress: (text: string) => void;
  },
): Promise<Result> {
  const { builds, size, rounds, progress } = options;
  const samples = new Map<string, Map<string, number[]>>(builds.map((build) => [build?.name ?? '', new Map()]));
  let series: Readonly<Record<string, readonly Point[]>> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const build of round % 2 === 0 ? builds : builds.toReversed()) {
      if (build === undefined) continue;
      progress(`${name}: round ${round + 1} of ${rounds}, ${build.name}`);
      const measured = await bench.round(build, size);
      const ofBuild = samples.get(build.name);
      for (const [key, value] of Object.entries(measured.values))
        if (Number.isFinite(value)) ofBuild?.set(key, [...(ofBuild.get(key) ?? []), value]);
      if (build === builds[0]) series = measured.series ?? series;
    }
  }
  const [here, against] = builds;
  const figures = (build: Build, key: string): Figures | null => figuresOf(samples.get(build.name)?.get(key) ?? []);
  return {
    name,
    about: bench.about,
    size,
    rounds,
    limit: bench.limit,
    rows: Object.entries(bench.rows).map(([key, row]) => ({
      ...row,
      here: figures(here, key),
      ...(against !== undefined && { against: figures(against, key) }),
    })),
    plots: (bench.plots ?? []).map(({ title, x, y, isLogX = false, series: names }) => ({
      title,
      x,
      y,
      isLogX,
      series: Object.fromEntries(names.map((each) => [each, series[each] ?? []])),
    })),
    ...(against !== undefined && { against: against.name }),
  };
}

function figuresOf(values: readonly number[]): Figures | null {
  const sorted = values.toSorted((one, other) => one - other);
  const [least, most] = [sorted.at(0), sorted.at(-1)];
  const median = sorted[sorted.length >> 1];
  return least === undefined || most === undefined || median === undefined ? null : { median, least, most };
}

/** Whether the median is where the row wants it; null: no target, or not measured. */
export function isReached({ least, most, here }: ResultRow): boolean | null {
  if (here === null || (least === undefined && most === undefined)) return null;
  return here.median >= (least ?? -Infinity) && here.median <= (most ?? Infinity);
}

/** What the limit is made of, where a target is missed; null where none is. */
export function limitOf({ limit, rows }: Pick<Result, 'limit' | 'rows'>): string | null {
  const isMissed = rows.some((row) => isReached(row) === false);
  return isMissed ? (limit ?? 'Not known yet.') : null;
}
