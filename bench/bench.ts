/** A checkout of dropcast that is measured: this one, or the one that `--against` names. */
export interface Build {
  /** As the tables call it: `here`, or the revision. */
  readonly name: string;
  /** Absolute. The sources start at `src/main.ts` below it. */
  readonly root: string;
  /** Its Node with the command line of the service's unit, and the heap that Node takes under `MemoryHigh=384M`. */
  readonly node: string;
  /** The same without flags, for commands, and for what only prepares or counts (no TypeScript with `--jitless`). */
  readonly plainNode: string;
  /** The program as the package installs it, which needs no types stripped: `node program run …`. */
  readonly program: string;
}

/** `small` is a run of a few seconds, to see that the benchmark works; its figures mean little. */
export type Size = 'full' | 'small';

/** One line of a benchmark's table. */
export interface Row {
  readonly what: string;
  /** `×` for a ratio. */
  readonly unit: string;
  /** The target, in the row's unit: reached when the median is not below it. */
  readonly least?: number;
  /** The target, in the row's unit: reached when the median is not above it. */
  readonly most?: number;
}

export type Point = readonly [x: number, y: number];

/** What one round measured. A row without a value was not measured, and the table says so. */
export interface Measured {
  /** Row key → value in the row's unit. */
  readonly values: Readonly<Record<string, number>>;
  /** Name → points, for the plots. */
  readonly series?: Readonly<Record<string, readonly Point[]>>;
}

export interface Plot {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  /** Whether the x axis is logarithmic. */
  readonly isLogX?: boolean;
  /** Names of series. */
  readonly series: readonly string[];
}

/** A benchmark: `bench/NAME.bench.ts` exports it as `bench`. */
export interface Bench {
  /** One or two sentences: what is measured, how, and against what. */
  readonly about: string;
  /** Rounds of a full run. Each measures all sides of its ratios; the table shows the median. */
  readonly rounds: number;
  /**
   * Whether a full run leaves out the figures with the compiler, because nothing here runs with the unit's flags, or
   * something else than the CPU is the limit.
   */
  readonly isOnlyAsShipped?: true;
  readonly rows: Readonly<Record<string, Row>>;
  readonly plots?: readonly Plot[];
  /** What the limit is made of, where a target is missed. */
  readonly limit?: string;
  round(build: Build, size: Size): Promise<Measured>;
}
