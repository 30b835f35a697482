import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { plants } from '../simulation/plants.ts';
import { judgedSpecs } from '../simulation/judge.ts';
import { specs, specsOf } from './specs.ts';
import { planted } from './worlds.ts';

const ids = Object.keys(specs);

test('every invariant is proved by an engine', () => {
  expect([...new Set([...specsOf('explorer'), ...specsOf('simulation')])].toSorted()).toEqual(ids.toSorted());
});

test('every invariant has a planted bug that breaks it, and every planted bug an invariant', () => {
  const broken = [...planted.map(({ breaks }) => breaks), ...plants.map(({ breaks }) => breaks)];
  expect([...new Set<string>(broken)].toSorted()).toEqual(ids.toSorted());
});

test('the judge of the simulation knows the invariants that are its own, and no others', () => {
  expect([...judgedSpecs].toSorted()).toEqual([...specsOf('simulation')].toSorted());
});

test.each(plants.flatMap(({ name, changes }) => changes.map((change) => ({ name, ...change }))))(
  'the planted bug "$name" still has its place in $file',
  ({ file, from }) => {
    const source = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    expect(source.split(from).length).toBe(2);
  },
);
