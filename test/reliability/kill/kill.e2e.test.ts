import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { has, needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { durabilityBugs } from '../planted/bugs.ts';
import { plant } from '../planted/plant.ts';
import { sizes } from '../sizes.ts';
import { chainsOf, errorsOf } from './choice.ts';
import { powerBugs } from './power-bugs.ts';
import { nameOfRandom, playRandomKills } from './random-kills.ts';
import { playRun, traceOf, workloads } from './runs.ts';
import type { Tools, Workload } from './runs.ts';
import { compileLibrary, compileShim } from './shim.ts';
import type { Trace } from './shim.ts';
import { sentUnsynced } from './unsynced.ts';

const { chains, errors, powerCuts, stations, killsPerStation, seed } = sizes.quick;
const names = Object.keys(workloads) as Workload[];

let scratch: ScratchDirectory;
let tools: Tools;
beforeAll(async () => {
  scratch = await scratchDirectory();
  const [shim, forgetful] = has('cc')
    ? await Promise.all([compileShim(scratch.path), compileLibrary('forgetful', scratch.path)])
    : ['', ''];
  tools = { program: inject('program'), shim, forgetful };
});
afterAll(() => scratch[Symbol.asyncDispose]());

const traces: Partial<Record<Workload, Promise<Trace>>> = {};

/** One undisturbed run of a workload, made once. */
function undisturbed(workload: Workload): Promise<Trace> {
  return (traces[workload] ??= traceOf({ workload, seed }, { action: 'before', at: 0 }, tools));
}

describe.concurrent('killed at a system call, started again', needs('cc'), () => {
  for (const workload of names)
    test(`${workload}: nothing is lost, doubled or left behind`, async () => {
      const runs = chainsOf(await undisturbed(workload), { workload, seed, count: Math.ceil(chains / names.length) });
      let kills = 0;
      for (const run of runs) {
        const { violations, name, hits } = await playRun(run, tools);
        kills += hits.filter(Boolean).length;
        expect(violations, `replay with: npm run test:reliability -- --replay '${name}'`).toEqual([]);
      }
      console.info(`${workload}: ${kills} kills in ${runs.length} chains, nothing lost, doubled or left behind`);
    });
});

describe.concurrent('the power fails at a system call', needs('cc'), () => {
  for (const workload of names)
    test(`${workload}: what was not synced is forgotten, and nothing is lost, doubled or left behind`, async () => {
      const count = Math.ceil(powerCuts / names.length);
      let cuts = 0;
      for (const run of chainsOf(await undisturbed(workload), { workload, seed, count, isPowerCut: true })) {
        const { violations, name, hits } = await playRun(run, tools);
        cuts += hits.filter(Boolean).length;
        expect(violations, `replay with: npm run test:reliability -- --replay '${name}'`).toEqual([]);
      }
      console.info(`${workload}: ${cuts} power cuts, nothing lost, doubled or left behind`);
    });

  for (const [name, { edits, workload = 'single', at, caughtBy }] of Object.entries(powerBugs))
    test(`caught: ${name}`, async () => {
      const program = await plant(tools.program, scratch.file(name.replaceAll(/\W/g, '-')), edits);
      const run = { workload, seed, points: [at], isPowerCut: true };
      const { violations, hits } = await playRun(run, { ...tools, program }, () => 1);
      expect(hits).toEqual([true]);
      expect(violations.map(({ invariant }) => invariant)).toContain(caughtBy);
      expect(await playRun(run, tools, () => 1)).toMatchObject({ violations: [], hits: [true] });
    });
});

describe.concurrent('a system call fails once', needs('cc'), () => {
  for (const workload of names)
    test(`${workload}: nothing is lost, doubled or left behind`, async () => {
      const trace = await traceOf({ workload, seed }, { action: 'EIO', at: 0 }, tools);
      for (const run of errorsOf(trace, { workload, seed, count: Math.ceil(errors / names.length) })) {
        const { violations, name } = await playRun(run, tools);
        expect(violations, `replay with: npm run test:reliability -- --replay '${name}'`).toEqual([]);
      }
    });
});

test('caught: lines that a killed process wrote to an export are not removed', needs('cc'), async () => {
  const edits = [{ anchor: 'if (isKnown && size > known.size) await file.truncate(known.size);', instead: '' }];
  const program = await plant(tools.program, scratch.file('untruncated'), edits);
  // The first write is the header.
  const run = { workload: 'linked', seed, points: [{ action: 'after', at: 2, only: 'write /links.csv' }] } as const;
  const { violations, hits } = await playRun(run, { ...tools, program });
  expect(hits).toEqual([true]);
  expect(violations.map(({ invariant }) => invariant)).toContain('each export has every finished video once');
  expect(await playRun(run, tools)).toMatchObject({ violations: [], hits: [true] });
});

describe.concurrent('killed at random moments', () => {
  for (const resumable of ['content-range', 'tus'] as const)
    test(`${killsPerStation} times, while an upload is continued (${resumable})`, async () => {
      const run = { kills: killsPerStation, seed, resumable };
      const again = `replay with: npm run test:reliability -- --replay '${nameOfRandom(run)}'`;
      expect(await playRandomKills(run, tools), again).toEqual([]);
    });

  for (let n = 0; n < stations; n += 1)
    test(`${killsPerStation} times, while files keep coming (${seed}-${n})`, async () => {
      const run = { kills: killsPerStation, seed: `${seed}-${n}` };
      const again = `replay with: npm run test:reliability -- --replay '${nameOfRandom(run)}'`;
      expect(await playRandomKills(run, tools), again).toEqual([]);
    });
});

describe.concurrent('no request leaves before the change behind it is on disk', needs('cc'), () => {
  const traceOne = async (program: string): Promise<Trace> => {
    const trace = await traceOf({ workload: 'single', seed }, { action: 'before', at: 0 }, { ...tools, program });
    expect(trace.calls.filter((call) => call === 'send tcp').length).toBeGreaterThan(2);
    return trace;
  };

  test('the ledger and the receipts are synced before each request', async () => {
    expect(sentUnsynced(await traceOne(tools.program))).toEqual([]);
  });

  for (const [name, edits] of Object.entries(durabilityBugs))
    test(`caught: ${name}`, async () => {
      const program = await plant(tools.program, scratch.file(name.replaceAll(/\W/g, '-')), edits);
      expect(sentUnsynced(await traceOne(program))).not.toEqual([]);
    });
});
