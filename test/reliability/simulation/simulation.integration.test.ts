import { beforeAll, expect, test } from 'vitest';
import { specs, specsOf } from '../model/specs.ts';
import { keptSeeds } from './kept-seeds.ts';
import type { Report } from './play.ts';
import { playAll } from './players.ts';
import type { Played } from './players.ts';
import { plants } from './plants.ts';
import { missingStates } from './sometimes.ts';

const seeds = Array.from({ length: 500 }, (_, index) => 1 + index);

let played: Played;

beforeAll(async () => {
  const all = [...new Set([...(await keptSeeds()), ...seeds])];
  played = await playAll({ seeds: all, jobs: 2, isLogged: false, plant: null, twiceEvery: 25 });
});

test.each(specsOf('simulation').map((id) => [id, specs[id].says] as const))('[%s] in 500 lives: %s', (id) => {
  const broken = played.reports.flatMap(({ seed, violations }) =>
    violations.filter(({ invariant }) => invariant === id).map(({ found }) => `${found}; ${replay(seed)}`),
  );
  expect(broken).toEqual([]);
});

test('a seed that is played twice gives the same log', () => {
  const twice = played.reports.filter(({ isSame }) => isSame !== null);
  expect(twice.length).toBeGreaterThanOrEqual(20);
  expect(twice.filter(({ isSame }) => isSame === false).map(({ seed }) => replay(seed))).toEqual([]);
});

test('500 lives reach every state that matters', () => {
  expect(missingStates(played.reports)).toEqual([]);
});

const shown = plants.filter(({ seen }) => seen !== undefined);

test('at least ten planted bugs are shown', () => {
  expect(shown.length).toBeGreaterThanOrEqual(10);
});

test.each(shown.map((plant) => [plant.name, plant] as const))(
  'the judge sees a planted bug: %s',
  async (name, plant) => {
    const isShown = ({ violations }: Report): boolean => violations.some(({ invariant }) => invariant === plant.breaks);
    // A change of the product gives the seeds other lives: where the noted one shows it no longer, another does.
    const { reports } = await playAll({
      seeds: [...new Set([...(plant.seen ?? []), ...seeds])],
      jobs: 1,
      isLogged: false,
      plant: name,
      twiceEvery: Infinity,
      until: isShown,
    });
    expect(reports.some(isShown)).toBe(true);
  },
);

function replay(seed: number): string {
  return `node test/reliability/simulation/run.ts --replay ${seed}`;
}
