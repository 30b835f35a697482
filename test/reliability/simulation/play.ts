import type { FleetWorldName } from '../fleet/fleets.ts';
import type { Recording } from '../playground/recorder.ts';
import { replaceGlobals } from './machine/globals.ts';
import { loadIntoMachine } from './machine/hooks.ts';
import type { Replacement } from './plants.ts';
import type { Lives } from './life.ts';
import type { Violation } from './judge.ts';

// A process of its own, because it replaces clocks, disk and network of everything that it loads: run.ts starts it.

/** What run.ts hears of one seed, as a line of JSON. */
export interface Report {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly reached: readonly string[];
  /** False when a second run of the seed did something else; null when it was played once. */
  readonly isSame: boolean | null;
  readonly kills: number;
  readonly elapsedMs: number;
  /** Null unless the order asks for it. */
  readonly recording: Recording | null;
}

/** What run.ts sends, as the first argument. */
export interface Order {
  readonly seeds: readonly number[];
  /** Plays every n-th of them twice. */
  readonly twiceEvery: number;
  /** Bugs to put into the product first. */
  readonly changes: readonly Replacement[];
  /** Prints all that happens. */
  readonly isLogged: boolean;
  /** Records each life for the playground. */
  readonly isRecorded: boolean;
  readonly world: World;
  /** Address of a server, for worlds that have one. */
  readonly postgres: string | null;
}

export type World = 'one host' | FleetWorldName;

const order = JSON.parse(process.argv[2] ?? '') as Order;

loadIntoMachine(order.changes);
const open = await worldOf(order);
const { startRecorder } = order.isRecorded ? await import('../playground/recorder.ts') : { startRecorder: null };
replaceGlobals();
// What a killed process leaves behind may reject with nobody to hear it.
process.on('unhandledRejection', () => undefined);

await using world = await open();
const onLine = order.isLogged ? (line: string): void => console.log(line) : null;
for (const [index, seed] of order.seeds.entries()) {
  const recorder = (await startRecorder?.(order.world === 'fleet')) ?? null;
  const first = await world.live(seed, recorder?.hear ?? onLine, recorder?.watch);
  const recording = (await recorder?.end(first)) ?? null;
  const second = index % order.twiceEvery === 0 ? await world.live(seed, null) : null;
  const report: Report = {
    seed,
    violations: first.violations,
    reached: [...first.reached],
    isSame: second === null ? null : second.digest === first.digest,
    kills: first.kills,
    elapsedMs: first.elapsedMs,
    recording,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

/** Loads what is played. @returns opens it, once clocks and timers are the machine's */
async function worldOf({ world, postgres }: Order): Promise<() => Promise<Lives>> {
  if (world !== 'one host') {
    const { openFleets } = await import('../fleet/fleets.ts');
    return () => openFleets(world, postgres ?? '');
  }
  const { live } = await import('./life.ts');
  return async () => ({ live, [Symbol.asyncDispose]: async () => undefined });
}
