import { setTimeout as sleep } from 'node:timers/promises';
import type { Resumable } from '../../e2e/resumable-host.ts';
import type { Violation } from '../judge/invariants.ts';
import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { bytesOf } from './runs.ts';
import type { Tools } from './runs.ts';
import { createRandom } from './random.ts';

export interface RandomKills {
  readonly kills: number;
  readonly seed: string;
  /** The host continues broken uploads, and every life of the daemon sends only a part of a file. */
  readonly resumable?: Resumable;
}

/** `random:50@seed`: what `--replay` takes. */
export function nameOfRandom({ kills, seed, resumable }: RandomKills): string {
  return `random:${kills}${resumable === undefined ? '' : `/${resumable}`}@${seed}`;
}

/** @returns null for the name of something else */
export function parseRandom(name: string): RandomKills | null {
  const [, kills, resumable, seed] = /^random:(\d+)(?:\/(content-range|tus))?@(.*)$/.exec(name) ?? [];
  if (seed === undefined) return null;
  return { kills: Number(kills), seed, ...(resumable !== undefined && { resumable: resumable as Resumable }) };
}

/** Kills the daemon at random moments while files keep coming, then lets `dropcast once` finish. */
export async function playRandomKills(
  { kills, seed, resumable }: RandomKills,
  { program, env = {}, patienceMs = 60_000 }: Pick<Tools, 'program' | 'env' | 'patienceMs'>,
): Promise<readonly Violation[]> {
  const random = createRandom(seed);
  await using world = await openWorld({
    program,
    patienceMs,
    folder: { after_ready: { move: 'done' } },
    ...(resumable !== undefined && { host: { resumable }, settings: { uploads: { bandwidth: '8MB/s' } } }),
    allows: { requestsPerVideo: 40 + kills, requests: 1_000 + 200 * kills },
  });
  const firstMs = await firstWorkMs(world, env);
  for (let n = 0; n < kills; n += 1) {
    await dropNext(world, `${seed}/${n}`, n, resumable !== undefined && n % killsPerLarge === 0);
    const process = world.start(['run'], { env });
    // Most of a short life is the start of Node; from then on every moment is as likely as any other.
    await sleep(firstMs * 0.8 + random() * firstMs * 2);
    process.send('SIGKILL');
    await world.end(process);
  }
  await world.once({ env });
  const violations = await world.judge();
  return [...violations, ...(resumable === undefined ? [] : sentTooOften(world))];
}

/** Kills while one large file is sent. */
const killsPerLarge = 5;

async function dropNext(world: World, name: string, n: number, isLarge: boolean): Promise<void> {
  const bytes = bytesOf(name);
  await world.drop(`${n}.mpg`, isLarge ? Buffer.concat(Array.from({ length: 8_000 }, () => bytes)) : bytes);
}

/**
 * Bytes under way when the process died may be sent again, and no others. A kill costs at most what the kernel held.
 */
function sentTooOften({ service: { host } }: World): readonly Violation[] {
  return [...host.partial].flatMap(([id, { received, size, requests }]) => {
    const most = size + requests * inFlightBytes;
    if (received <= most) return [];
    const evidence = `${received} bytes in ${requests} requests for ${size}, at most ${most}`;
    return [{ invariant: 'no record gets a second complete body' as const, what: id, evidence }];
  });
}

/** Buffers of the kernel on both sides of a loopback connection. */
const inFlightBytes = 4 * 1024 * 1024;

/** How long the machine takes at present until the program has made its ledger. */
async function firstWorkMs(world: World, env: Readonly<Record<string, string>>): Promise<number> {
  const begunAt = performance.now();
  await world.once({ env });
  return performance.now() - begunAt;
}
