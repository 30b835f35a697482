import { createHash } from 'node:crypto';
import type { Allowance } from '../judge/evidence.ts';
import type { Violation } from '../judge/invariants.ts';
import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import type { Point } from './points.ts';
import { readTrace, shimEnv } from './shim.ts';
import type { Plan, Trace } from './shim.ts';

/** What the process that will be killed works on. */
export const workloads = {
  /** Three files that stay where they are. */
  plain: { folder: '', prepare: async (world: World, seed: string) => dropThree(world, seed) },
  /** Three files that are published and moved away. */
  moved: {
    folder: 'after_ready: { move: done }',
    prepare: async (world: World, seed: string) => dropThree(world, seed),
  },
  /** Three files, of which one is overwritten while it is sent. */
  changed: {
    folder: '',
    prepare: async (world: World, seed: string) => {
      await dropThree(world, seed);
      let isFirst = true;
      world.service.faults.upload = async (_, __, id) => {
        if (!isFirst || world.service.host.videos.get(id)?.title !== 'a') return false;
        isFirst = false;
        await world.people.overwrite(world.at('a.mpg'), bytesOf(`${seed}/a again`), { isTimeKept: false });
        return false;
      };
    },
  },
} as const;

/** One file, so that the calls have one order. */
const single = { folder: '', prepare: (world: World, seed: string) => world.drop('a.mpg', bytesOf(`${seed}/a`)) };

export type Workload = keyof typeof workloads | 'single';

/** A run: what is worked on, and where each process of it meets its end. One more then runs undisturbed. */
export interface KillRun {
  readonly workload: Workload;
  readonly points: readonly Point[];
  readonly seed: string;
}

export interface KillResult {
  readonly name: string;
  readonly violations: readonly Violation[];
  /** Whether each point came. */
  readonly hits: readonly boolean[];
}

export interface Tools {
  readonly program: string;
  readonly shim: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly patienceMs?: number;
}

/** `plain:before/137,after/12@seed`: what `--replay` takes. */
export function nameOf({ workload, points, seed }: KillRun): string {
  return `${workload}:${points.map(({ action, at }) => `${action}/${at}`).join(',')}@${seed}`;
}

export function parseRun(name: string): KillRun {
  const [, workload, points, seed] = /^(\w+):(.*)@(.*)$/.exec(name) ?? [];
  if (workload === undefined || !(workload in workloads)) throw new Error(`not a run: ${name}`);
  const list = (points ?? '').split(',').map((point) => {
    const [action, at] = point.split('/');
    return { action, at: Number(at) } as Point;
  });
  return { workload: workload as Workload, points: list, seed: seed ?? '' };
}

/** Kills, starts again without a kill, and lets the judge look. */
export async function playRun(run: KillRun, tools: Tools): Promise<KillResult> {
  const isError = run.points.some(({ action }) => action.startsWith('E'));
  await using world = await openPrepared(run, tools, { exitCodes: isError ? [1, 75] : [] });
  const hits: boolean[] = [];
  for (const [n, point] of run.points.entries()) {
    const { isHit } = await watched(world, point, tools, n);
    hits.push(isHit);
    if (!isHit) break;
  }
  const last = await world.once(tools.env === undefined ? {} : { env: tools.env });
  const isFine = last.code === 0;
  const violations = await world.judge();
  const unfinished = {
    invariant: 'every process ends, in time and with an exit code that says how' as const,
    what: 'the undisturbed start',
    evidence: `exit code ${last.code}: ${last.stderr.slice(-300)}`,
  };
  return { name: nameOf(run), violations: isFine ? violations : [...violations, unfinished], hits };
}

/** One undisturbed run, for the calls that it makes. @param plan at 0 */
export async function traceOf(run: Pick<KillRun, 'workload' | 'seed'>, plan: Plan, tools: Tools): Promise<Trace> {
  await using world = await openPrepared(run, tools, {});
  return await watched(world, plan, tools, 0);
}

async function openPrepared(
  { workload, seed }: Pick<KillRun, 'workload' | 'seed'>,
  { program, patienceMs = 60_000 }: Tools,
  allows: Partial<Allowance>,
): Promise<World> {
  const { folder, prepare } = workload === 'single' ? single : workloads[workload];
  const world = await openWorld({
    program,
    patienceMs,
    folder,
    allows: { requestsPerVideo: 40, requests: 400, ...allows },
  });
  await prepare(world, seed);
  return world;
}

async function watched(world: World, plan: Plan, tools: Tools, n: number): Promise<Trace> {
  const trace = world.scratch.file(`trace-${n}`);
  const roots = [world.scratch.file('inbox'), world.scratch.file('state')];
  await world.once({ env: { ...tools.env, ...shimEnv(plan, tools.shim, roots, trace) } });
  return await readTrace(trace);
}

async function dropThree(world: World, seed: string): Promise<void> {
  for (const name of ['a', 'b', 'c']) await world.drop(`${name}.mpg`, bytesOf(`${seed}/${name}`));
}

/** 2,000 bytes or so, the same for the same name. */
export function bytesOf(name: string): Buffer {
  const block = createHash('sha512').update(name).digest();
  return Buffer.concat(Array.from({ length: 31 }, () => block)).subarray(0, 1_900 + ((block[0] ?? 0) % 64));
}
