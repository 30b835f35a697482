import { beforeAll, describe, expect, test } from 'vitest';
import { explore } from './explore.ts';
import type { Exploration } from './explore.ts';
import { ExploredWorld } from './explored-world.ts';
import { specs, specsOf } from './specs.ts';
import { planted, worlds } from './worlds.ts';

/** The long run takes minutes. */
const isLong = process.env['DROPCAST_LONG'] === '1';

describe.each(worlds)('every schedule with $name', ({ setting, quick, long, least }) => {
  let exploration: Exploration;

  beforeAll(async () => {
    exploration = await explore(new ExploredWorld(setting), isLong ? long : quick);
  });

  test.each(specsOf('explorer').map((id) => [id, specs[id].says] as const))('[%s] %s', (id) => {
    expect(exploration.violations.get(id) ?? 'no schedule breaks it').toBe('no schedule breaks it');
  });

  test('there are enough of them', () => {
    console.log(
      `explorer: ${exploration.schedules} schedules through ${exploration.states} states, ${exploration.violations.size} invariants broken`,
    );
    expect(exploration.schedules).toBeGreaterThanOrEqual(least[isLong ? 1 : 0]);
  });
});

test.each(planted)(
  'the judge sees a planted bug: $plant breaks $breaks',
  async ({ plant, breaks, faults, setting }) => {
    const { violations } = await explore(new ExploredWorld({ ...setting, plant }), faults, breaks);
    expect([...violations.keys()]).toContain(breaks);
  },
);

test('the only copy is deleted, when the daemon deletes a record that may have the whole file', async () => {
  const setting = { plant: 'deletes what may have arrived', deeds: ['deletes'], lag: 2, lateness: 12 } as const;
  const { violations } = await explore(new ExploredWorld(setting), 3, 'R1');
  expect([...violations.keys()]).toContain('R1');
});

test('an import whose answer is lost is never repeated automatically', async () => {
  const { ends } = await explore(new ExploredWorld({ isImport: true }), 1);
  expect(new Set([...ends].map((end) => /(\w+):/.exec(end)?.[1]))).toEqual(new Set(['done', 'held']));
});
