import { playStorm, shownStorm, sumOfStorms } from './fleet/random-storm.ts';
import type { StormTotals } from './fleet/random-storm.ts';
import type { Resumable } from '../e2e/resumable-host.ts';
import { has } from '../support/needs.ts';
import type { Finding } from './planted/scenario.ts';
import { chainsOf } from './kill/choice.ts';
import { errorPoints, killPoints, sample } from './kill/points.ts';
import type { Point } from './kill/points.ts';
import { nameOfRandom, parseRandom, playRandomKills } from './kill/random-kills.ts';
import { playRefusal, refusalRuns } from './kill/refusals.ts';
import type { RandomKills } from './kill/random-kills.ts';
import { nameOf, parseRun, playRun, traceOf, workloads } from './kill/runs.ts';
import type { KillRun, Tools, Workload } from './kill/runs.ts';
import type { Trace } from './kill/shim.ts';
import { matrix, matrixParts, playNamed } from './matrix/matrix.ts';

/** A part of the long run. */
export interface LongPart {
  readonly name: string;
  cases(tools: Tools): Promise<readonly LongCase[]>;
  /** How many are played at once; 6 by default. */
  readonly atOnce?: number;
  /** What to say of all that were played. */
  summary?(): string;
}

interface LongCase {
  readonly name: string;
  /** Of a matrix: how many it plays at once. One by default. */
  readonly cells?: number;
  play(tools: Tools): Promise<readonly Finding[]>;
  /** How many processes it killed, once it was played; a matrix does not count them. */
  kills?(): number;
}

/** Points beyond the traced run: another order of threads may make more calls. */
const further = 20;

/** Of three cuts, for each workload: 1,000 cuts and some. */
const powerChains = 112;

const stations = 200;
const killsPerStation = 50;
const resumedStations = 4;

const storms = 100;

/** @param share of all points and kills, from 0 to 1 */
export function longParts(seed: string, share: number): readonly LongPart[] {
  const of = <T>(all: readonly T[]): readonly T[] => sample(all, Math.ceil(all.length * share), seed);
  const names = Object.keys(workloads) as Workload[];
  return [
    ...names.map((workload) => ({
      name: `kill at every call, ${workload}`,
      cases: async (tools: Tools) =>
        of(runsAt(workload, seed, await pointsOf(workload, seed, tools, 'before', killPoints))),
    })),
    ...names.map((workload) => ({
      name: `error of every call, ${workload}`,
      cases: async (tools: Tools) =>
        of(runsAt(workload, seed, await pointsOf(workload, seed, tools, 'EIO', errorPoints))),
    })),
    ...names.map((workload) => ({
      name: `power cut at a call, ${workload}`,
      cases: async (tools: Tools) => of(await powerCuts(workload, seed, tools)),
    })),
    {
      name: 'the state directory refuses',
      cases: async () => of(refusalRuns.map((name) => ({ name, play: (tools: Tools) => playRefusal(name, tools) }))),
    },
    {
      name: `kill at random moments, ${killsPerStation} each`,
      cases: async () => of(Array.from({ length: stations }, (_, n) => randomKills(`${seed}-${n}`))),
    },
    ...(['content-range', 'tus'] as const).map((resumable) => ({
      name: `kill at random moments of an upload that is continued, ${resumable}`,
      cases: async () => of(Array.from({ length: resumedStations }, (_, n) => randomKills(`${seed}-${n}`, resumable))),
    })),
    chaosOfFleets(of),
    ...matrixParts.map((part) => ({ name: `matrix of ${part}`, cases: async () => of(matrix[part].all(seed)) })),
    ...(['content-range', 'tus'] as const).flatMap((resumable) =>
      (['changes', 'network'] as const).map((part) => ({
        name: `matrix of ${part}, ${resumable}`,
        cases: async () =>
          of(matrix[part].all(seed)).map(({ name, cells, play }) => ({
            name: `${resumable} ${name}`,
            cells,
            play: (tools: Tools) => play({ ...tools, resumable }),
          })),
      })),
    ),
  ];
}

function chaosOfFleets(of: <T>(all: readonly T[]) => readonly T[]): LongPart {
  const played: StormTotals[] = [];
  const storm = (seed: number): LongCase => {
    let kills = 0;
    return {
      name: `storm:${seed}`,
      play: async ({ program }) => {
        const { violations, totals } = await playStorm(seed, program);
        played.push(totals);
        ({ kills } = totals);
        console.info(`storm:${seed}: ${shownStorm(totals)}`);
        return violations;
      },
      kills: () => kills,
    };
  };
  return {
    name: 'chaos of a fleet',
    cases: async () => (has('postgres') ? of(Array.from({ length: storms }, (_, n) => storm(n + 1))) : []),
    atOnce: 2,
    summary: () => (played.length === 0 ? 'there is no PostgreSQL' : shownStorm(sumOfStorms(played))),
  };
}

async function pointsOf(
  workload: Workload,
  seed: string,
  tools: Tools,
  action: 'before' | 'EIO',
  every: (trace: Trace) => readonly Point[],
): Promise<readonly Point[]> {
  const trace = await traceOf({ workload, seed }, { action, at: 0 }, tools);
  const calls = [...trace.calls, ...Array.from({ length: further }, () => trace.calls.at(-1) ?? '')];
  return every({ ...trace, calls });
}

function runsAt(workload: Workload, seed: string, points: readonly Point[]): readonly LongCase[] {
  return points.map((point) => caseOf({ workload, seed, points: [point] }));
}

async function powerCuts(workload: Workload, seed: string, tools: Tools): Promise<readonly LongCase[]> {
  const trace = await traceOf({ workload, seed }, { action: 'before', at: 0 }, tools);
  return chainsOf(trace, { workload, seed, count: powerChains, isPowerCut: true }).map(caseOf);
}

function caseOf(run: KillRun): LongCase {
  let kills = 0;
  const play = async (tools: Tools): Promise<readonly Finding[]> => {
    const { violations, hits } = await playRun(run, tools);
    kills = hits.filter((isHit, n) => isHit && run.points[n]?.action.startsWith('E') === false).length;
    return violations;
  };
  return { name: nameOf(run), play, kills: () => kills };
}

function randomKills(seed: string, resumable?: RandomKills['resumable']): LongCase {
  const run = { kills: killsPerStation, seed, ...(resumable !== undefined && { resumable }) };
  return { name: nameOfRandom(run), play: (tools) => playRandomKills(run, tools), kills: () => run.kills };
}

/** Plays a run again by its name. */
export async function replay(name: string, tools: Tools): Promise<readonly Finding[]> {
  const [, storm] = /^storm:(\d+)$/.exec(name) ?? [];
  if (storm !== undefined) return (await playStorm(Number(storm), tools.program)).violations;
  if (name.startsWith('refused:')) return playRefusal(name, tools);
  const random = parseRandom(name);
  if (random !== null) return playRandomKills(random, tools);
  const [, resumable, cell = name] = /^(content-range|tus) (.*)$/.exec(name) ?? [];
  const world = playNamed(cell);
  if (world === null) return (await playRun(parseRun(name), tools)).violations;
  return world.play({ ...tools, ...(resumable !== undefined && { resumable: resumable as Resumable }) });
}
