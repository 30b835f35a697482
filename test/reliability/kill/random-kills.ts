import { setTimeout as sleep } from 'node:timers/promises';
import type { Violation } from '../judge/invariants.ts';
import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { bytesOf } from './runs.ts';
import type { Tools } from './runs.ts';
import { createRandom } from './random.ts';

/** `random:50@seed`: what `--replay` takes. */
export function nameOfRandom({ kills, seed }: { readonly kills: number; readonly seed: string }): string {
  return `random:${kills}@${seed}`;
}

/** Kills the daemon at random moments while files keep coming, then lets `dropcast once` finish. */
export async function playRandomKills(
  { kills, seed }: { readonly kills: number; readonly seed: string },
  { program, env = {}, patienceMs = 60_000 }: Pick<Tools, 'program' | 'env' | 'patienceMs'>,
): Promise<readonly Violation[]> {
  const random = createRandom(seed);
  await using world = await openWorld({
    program,
    patienceMs,
    folder: { after_ready: { move: 'done' } },
    allows: { requestsPerVideo: 40 + kills, requests: 1_000 + 200 * kills },
  });
  const firstMs = await firstWorkMs(world, env);
  for (let n = 0; n < kills; n += 1) {
    await world.drop(`${n}.mpg`, bytesOf(`${seed}/${n}`));
    const process = world.start(['run'], { env });
    // Most of a short life is the start of Node; from then on every moment is as likely as any other.
    await sleep(firstMs * 0.8 + random() * firstMs * 2);
    process.send('SIGKILL');
    await world.end(process);
  }
  await world.once({ env });
  return await world.judge();
}

/** How long the machine takes at present until the program has made its ledger. */
async function firstWorkMs(world: World, env: Readonly<Record<string, string>>): Promise<number> {
  const begunAt = performance.now();
  await world.once({ env });
  return performance.now() - begunAt;
}
