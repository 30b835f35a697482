import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { HostOptions } from '../../e2e/video-host.ts';
import type { FolderSettings, Settings } from '../../support/configuration.ts';
import type { Allowance } from '../judge/evidence.ts';
import type { Violation } from '../judge/invariants.ts';
import { openWorld } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { cutPower, forgetfulEnv, syncAll } from './forgetful-disk.ts';
import type { ForgetfulDisk } from './forgetful-disk.ts';
import type { Point } from './points.ts';
import { createRandom } from './random.ts';
import { readTrace, shimEnv } from './shim.ts';
import type { Plan, Trace } from './shim.ts';

/** What the process that will be killed works on. */
export const workloads = {
  /** Three files that stay where they are. */
  plain: { folder: {}, prepare: async (world: World, seed: string) => dropThree(world, seed) },
  /** Three files that are published and moved away. */
  moved: {
    folder: { after_ready: { move: 'done' } },
    prepare: async (world: World, seed: string) => dropThree(world, seed),
  },
  /** Three files, of which one is overwritten while it is sent. */
  changed: {
    folder: {},
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
  /** Three files that are listed in two exports, each with a link file next to it. */
  linked: {
    folder: { beside: true },
    settings: { exports: [{ to: 'links.csv' }, { to: 'links.ndjson' }] },
    prepare: async (world: World, seed: string) => dropThree(world, seed),
  },
  /** A file that breaks in the middle, on a host that continues it in sessions. */
  session: { folder: {}, host: { resumable: 'content-range' }, prepare: dropBroken },
  /** The same by tus. */
  tus: { folder: {}, host: { resumable: 'tus' }, prepare: dropBroken },
} as const satisfies Readonly<Record<string, WorkloadOf>>;

interface WorkloadOf {
  readonly folder: FolderSettings;
  readonly settings?: Settings;
  readonly host?: HostOptions;
  prepare(world: World, seed: string): Promise<void>;
}

/** One file, so that the calls have one order. */
const single: WorkloadOf = {
  folder: {},
  prepare: (world: World, seed: string) => world.drop('a.mpg', bytesOf(`${seed}/a`)),
};

export type Workload = keyof typeof workloads | 'single';

/** A run: what is worked on, and where each process of it meets its end. One more then runs undisturbed. */
export interface KillRun {
  readonly workload: Workload;
  readonly points: readonly Point[];
  readonly seed: string;
  /** Not only the process ends: the disk forgets what was not synced. */
  readonly isPowerCut?: boolean;
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
  /** `forgetful.c`, compiled. */
  readonly forgetful: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly patienceMs?: number;
}

/** `plain:before/137,after/12@seed`: what `--replay` takes. */
export function nameOf({ workload, points, seed, isPowerCut = false }: KillRun): string {
  const list = points.map(({ action, at, only }) => [action, at, ...(only === undefined ? [] : [only])].join('/'));
  return `${isPowerCut ? 'power ' : ''}${workload}:${list.join(',')}@${seed}`;
}

export function parseRun(name: string): KillRun {
  const [, power, workload, points, seed] = /^(power )?(\w+):(.*)@(.*)$/.exec(name) ?? [];
  if (workload === undefined || !(workload in workloads || workload === 'single'))
    throw new Error(`not a run: ${name}`);
  const list = (points ?? '').split(',').map((point) => {
    const [action, at, ...only] = point.split('/');
    return { action, at: Number(at), ...(only.length > 0 && { only: only.join('/') }) } as Point;
  });
  return { workload: workload as Workload, points: list, seed: seed ?? '', isPowerCut: power !== undefined };
}

/**
 * Kills, starts again without a kill, and lets the judge look.
 *
 * @param luck what a power cut leaves: a number from 0 to 1 each time, where 1 is the worst
 */
export async function playRun(run: KillRun, tools: Tools, luck = createRandom(nameOf(run))): Promise<KillResult> {
  const isError = run.points.some(({ action }) => action.startsWith('E'));
  await using world = await openPrepared(run, tools, { exitCodes: isError ? [1, 75] : [] });
  const hits: boolean[] = [];
  const disk = run.isPowerCut === true ? await forgetfulDisk(world) : null;
  for (const [n, point] of run.points.entries()) {
    if (disk !== null) await syncAll(disk);
    const { isHit } = await watched(world, point, tools, { n, disk });
    if (disk !== null && isHit) await cutPower(disk, luck);
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
  return await watched(world, plan, tools, { n: 0, disk: null });
}

async function openPrepared(
  { workload, seed }: Pick<KillRun, 'workload' | 'seed'>,
  { program, patienceMs = 60_000 }: Tools,
  allows: Partial<Allowance>,
): Promise<World> {
  const { folder, settings, host, prepare }: WorkloadOf = workload === 'single' ? single : workloads[workload];
  const world = await openWorld({
    program,
    patienceMs,
    folder,
    ...(settings !== undefined && { settings }),
    ...(host !== undefined && { host }),
    allows: { requestsPerVideo: 40, requests: 400, ...allows },
  });
  await prepare(world, seed);
  return world;
}

async function watched(
  world: World,
  plan: Plan,
  tools: Tools,
  { n, disk }: { readonly n: number; readonly disk: ForgetfulDisk | null },
): Promise<Trace> {
  const trace = world.scratch.file(`trace-${n}`);
  const shim = shimEnv(plan, tools.shim, rootsOf(world), trace);
  const forgetting = disk !== null && { ...forgetfulEnv(disk), LD_PRELOAD: `${tools.shim}:${tools.forgetful}` };
  await world.once({ env: { ...tools.env, ...shim, ...forgetting } });
  return await readTrace(trace);
}

function rootsOf(world: World): readonly string[] {
  return [world.scratch.file('inbox'), world.scratch.file('state')];
}

async function forgetfulDisk(world: World): Promise<ForgetfulDisk> {
  await mkdir(world.scratch.file('state'), { mode: 0o700 });
  return { roots: rootsOf(world), written: [world.scratch.file('state')], shadow: world.scratch.file('durable') };
}

async function dropThree(world: World, seed: string): Promise<void> {
  for (const name of ['a', 'b', 'c']) await world.drop(`${name}.mpg`, bytesOf(`${seed}/${name}`));
}

/** Several parts and a small file; the first body breaks off in its middle. */
async function dropBroken(world: World, seed: string): Promise<void> {
  const block = bytesOf(`${seed}/a`);
  await world.drop('a.mpg', Buffer.concat(Array.from({ length: 1_800 }, () => block)));
  await world.drop('b.mpg', bytesOf(`${seed}/b`));
  let isOver = false;
  world.service.faults.upload = (request) => {
    let received = 0;
    request.on('data', (part: Buffer) => {
      received += part.length;
      if (isOver || received < 1_500_000) return;
      isOver = true;
      request.socket.destroy();
    });
    return false;
  };
}

/** 2,000 bytes or so, the same for the same name. */
export function bytesOf(name: string): Buffer {
  // Without the byte that begins the packets of a transport stream: 64 repeated bytes could pass for one that is cut off.
  const block = createHash('sha512')
    .update(name)
    .digest()
    .map((byte) => (byte === 0x47 ? 0x48 : byte));
  return Buffer.concat(Array.from({ length: 31 }, () => block)).subarray(0, 1_900 + ((block[0] ?? 0) % 64));
}
