import type { Finding } from '../planted/scenario.ts';
import type { World } from '../world/world.ts';

/** What the judge finds after a play, or that it never came to its end. */
export async function judged(world: World, play: () => Promise<void>): Promise<readonly Finding[]> {
  try {
    await play();
  } catch (error) {
    const late: Finding = { invariant: 'it gets there', what: 'the play', evidence: (error as Error).message };
    return [late, ...(await world.judge())];
  }
  return await world.judge();
}
