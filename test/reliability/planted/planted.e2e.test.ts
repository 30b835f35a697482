import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rm } from 'node:fs/promises';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { bugs, hurried } from './bugs.ts';
import type { PlantedBug } from './bugs.ts';
import { plant } from './plant.ts';
import type { Edit } from './plant.ts';
import { perform } from './scenario.ts';
import type { Finding } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import type { ScenarioName } from './scenarios.ts';

/** Scenarios that the product does not survive yet. One that it survives has to leave this list: `test.fails` then fails. */
const toBeMended: ReadonlySet<ScenarioName> = new Set<ScenarioName>([]);

const copies: string[] = [];
afterAll(async () => {
  for (const copy of copies) await rm(copy, { recursive: true });
});

/** The program as it is, or a copy of it with changes. */
async function programWith(edits: readonly Edit[]): Promise<string> {
  if (edits.length === 0) return inject('program');
  const folder = join(tmpdir(), `dropcast-planted-${randomBytes(6).toString('hex')}`);
  copies.push(folder);
  return plant(inject('program'), folder, edits);
}

async function play(name: ScenarioName, edits: readonly Edit[], patienceMs: number): Promise<readonly Finding[]> {
  const scenario = scenarios[name];
  const program = await programWith([...(scenario.isHurried === true ? hurried : []), ...edits]);
  return perform(scenario, { program, patienceMs });
}

describe.concurrent('the judge finds nothing', () => {
  for (const name of Object.keys(scenarios) as ScenarioName[]) {
    const run = toBeMended.has(name) ? test.fails : test;
    run(name, scenarios[name].needsCompiler === true ? needs('cc') : {}, async () => {
      expect(await play(name, [], toBeMended.has(name) ? 8_000 : 60_000)).toEqual([]);
    });
  }
});

/** Bugs with which the program never gets there. The others end by themselves, however busy the machine is. */
const endless: ReadonlySet<Finding['invariant']> = new Set([
  'it gets there',
  'every process ends, in time and with an exit code that says how',
  'every file on disk is ready, or a person is notified',
]);

/** The long run plants all of them, this one a bug for each invariant. */
const planted = Object.entries<PlantedBug>(bugs).filter(
  ([, { caughtBy }], index, all) =>
    process.env['DROPCAST_LONG'] === '1' || all.findIndex(([, other]) => other.caughtBy === caughtBy) === index,
);

test('each bug has its place in the program', async () => {
  for (const { edits } of Object.values<PlantedBug>(bugs)) await programWith(edits);
});

describe.concurrent('the judge finds a planted bug', () => {
  const table: string[] = [];
  afterAll(() => {
    console.info(`planted bug → caught by\n  ${table.toSorted().join('\n  ')}\n${table.length} of ${planted.length}`);
  });
  for (const [name, bug] of planted)
    test(name, scenarios[bug.scenario].needsCompiler === true ? needs('cc') : {}, async () => {
      const found = await play(bug.scenario, bug.edits, endless.has(bug.caughtBy) ? 8_000 : 60_000);
      expect(found.map(({ invariant }) => invariant)).toContain(bug.caughtBy);
      table.push(`${name} → ${bug.caughtBy}`);
    });
});
