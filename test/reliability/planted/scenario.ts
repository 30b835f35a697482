import type { FleetInvariant } from '../fleet/judge.ts';
import type { Violation } from '../judge/invariants.ts';
import { openWorld } from '../world/world.ts';
import type { JudgedWorldOptions, World, WorldOptions } from '../world/world.ts';

/** Something that happens to a running program. The judge alone says whether it went well. */
export interface Scenario {
  readonly world?: Omit<JudgedWorldOptions, 'program' | 'patienceMs'>;
  /** Waits of a minute are cut short in the copy of the program that plays it. */
  readonly isHurried?: boolean;
  /** It works with compiled C. */
  readonly needsCompiler?: boolean;
  play(world: World): Promise<void>;
}

/** What the judge found, or that the play never came to its end. */
export interface Finding {
  readonly invariant: Violation['invariant'] | FleetInvariant | 'it gets there' | 'one line for each cause';
  readonly what: string;
  readonly evidence: string;
}

export async function perform(
  { world: options, play }: Scenario,
  product: Pick<WorldOptions, 'program' | 'patienceMs'>,
): Promise<readonly Finding[]> {
  await using world = await openWorld({ ...options, ...product });
  try {
    await play(world);
  } catch (error) {
    const late: Finding = { invariant: 'it gets there', what: 'the play', evidence: (error as Error).message };
    return [late, ...(await world.judge())];
  }
  return await world.judge();
}
