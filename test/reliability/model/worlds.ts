import { allDeeds } from './explored-world.ts';
import type { Plant, Setting } from './explored-world.ts';
import type { SpecId } from './specs.ts';

/** A world with the faults that one schedule has at most. */
export interface ExploredCase {
  readonly name: string;
  readonly setting: Setting;
  /** In the quick part. */
  readonly quick: number;
  /** In the long run. */
  readonly long: number;
  /** Schedules of the quick and the long run, at least: a world in which little can happen proves little. */
  readonly least: readonly [quick: number, long: number];
}

const people: Setting = { lateness: 12, lag: 2, deeds: allDeeds };
const everything: Setting = {
  lateness: 12,
  deeds: allDeeds,
  mayMiss: true,
  mayRefuse: true,
  afterReady: { kind: 'delete' },
  feeds: ['feed_news'],
};

export const worlds: readonly ExploredCase[] = [
  {
    name: 'late requests soon, a status that lags',
    setting: { lateness: 4, lag: 3 },
    quick: 3,
    long: 4,
    least: [15_000, 165_000],
  },
  { name: 'late requests long after', setting: { lateness: 12 }, quick: 3, long: 4, least: [6_000, 100_000] },
  { name: 'people who change the file at any moment', setting: people, quick: 2, long: 3, least: [5_000, 165_000] },
  {
    name: 'people, a watcher that misses events, a ledger that refuses, a feed, and after_ready',
    setting: everything,
    quick: 2,
    long: 3,
    least: [7_000, 165_000],
  },
  { name: 'an import', setting: { isImport: true }, quick: 3, long: 5, least: [300, 1_000] },
];

/** Bugs that are put into the world, and the invariant that has to break, with so many faults at most. */
export const planted: readonly {
  readonly plant: Plant;
  readonly breaks: SpecId;
  readonly faults: number;
  readonly setting: Setting;
}[] = [
  { plant: 'dying is not durable', breaks: 'R1', faults: 2, setting: { lateness: 12 } },
  { plant: 'never asks', breaks: 'D2', faults: 2, setting: { lateness: 12 } },
  { plant: 'binds after the upload', breaks: 'D3', faults: 1, setting: { lateness: 12 } },
  { plant: 'binds after the upload', breaks: 'D1', faults: 2, setting: { lateness: 12 } },
  { plant: 'replaces without deleting', breaks: 'E1', faults: 2, setting: { lateness: 12 } },
  { plant: 'one token', breaks: 'D4', faults: 2, setting: { lateness: 12 } },
  { plant: 'forgets tokens', breaks: 'E1', faults: 2, setting: { lateness: 12 } },
  { plant: 'no gate', breaks: 'M1', faults: 1, setting: people },
  { plant: 'ignores the time of the inode', breaks: 'L1', faults: 1, setting: people },
  { plant: 'puts away without a look', breaks: 'L2', faults: 1, setting: everything },
  { plant: 'counts outages', breaks: 'A1', faults: 1, setting: { lateness: 12 } },
  { plant: 'publishes too early', breaks: 'P1', faults: 0, setting: everything },
  { plant: 'waits for ever', breaks: 'V1', faults: 1, setting: { lateness: 12 } },
  { plant: 'gives no reason', breaks: 'W1', faults: 2, setting: people },
];
