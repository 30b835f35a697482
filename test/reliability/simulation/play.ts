import { replaceGlobals } from './machine/globals.ts';
import { loadIntoMachine } from './machine/hooks.ts';
import { plants } from './plants.ts';
import type { Violation } from './judge.ts';

// A process of its own, because it replaces clocks, disk and network of everything that it loads: run.ts starts it.

/** What run.ts hears of one seed, as a line of JSON. */
export interface Report {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly reached: readonly string[];
  /** False when a second run of the seed did something else; null when it was played once. */
  readonly isSame: boolean | null;
}

/** What run.ts sends, as the first argument. */
export interface Order {
  readonly seeds: readonly number[];
  /** Plays every n-th of them twice. */
  readonly twiceEvery: number;
  readonly plant: string | null;
  /** Prints all that happens. */
  readonly isLogged: boolean;
}

const order = JSON.parse(process.argv[2] ?? '') as Order;
const plant = order.plant === null ? [] : plants.filter(({ name }) => name === order.plant);
if (order.plant !== null && plant.length === 0) throw new Error(`there is no plant ${order.plant}`);

loadIntoMachine(plant.flatMap(({ changes }) => changes));
const { live } = await import('./life.ts');
replaceGlobals();
// What a killed process leaves behind may reject with nobody to hear it.
process.on('unhandledRejection', () => undefined);

for (const [index, seed] of order.seeds.entries()) {
  const first = await live(seed, order.isLogged ? (line) => console.log(line) : null);
  const second = index % order.twiceEvery === 0 ? await live(seed) : null;
  const report: Report = {
    seed,
    violations: first.violations,
    reached: [...first.reached],
    isSame: second === null ? null : second.digest === first.digest,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
