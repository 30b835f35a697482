import { expect, test } from 'vitest';
import { leftForYou } from '../../src/cli/run/once.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { RowsWanted } from '../../src/pipeline/file/row-groups.ts';
import { ready, someFacts } from '../pipeline/some-facts.ts';

const rows: readonly Facts[] = [
  someFacts({ id: 'held', path: 'held', end: 'held', endedAt: 1 }),
  someFacts({ id: 'failed', path: 'failed', end: 'failed', endedAt: 2 }),
  someFacts({ id: 'gone', path: 'gone', end: 'failed', endedAt: 3 }),
  someFacts({ id: 'elsewhere', path: 'elsewhere', folder: '/former', end: 'held', endedAt: 4 }),
  someFacts({ id: 'done', path: 'done', ...ready, end: 'done', endedAt: 5 }),
  someFacts({ id: 'skipped', path: 'skipped', end: 'skipped', endedAt: 6 }),
  someFacts({ id: 'waiting', path: 'waiting', ...ready, end: 'done', endedAt: 7, disposal: 'waiting' }),
  someFacts({ id: 'this run', path: 'this run', end: 'failed', endedAt: 10 }),
];
const ledger = {
  rows: async (wanted: RowsWanted<'any' | 'waiting for disk'>) =>
    wanted.group === 'any'
      ? rows.filter((facts) => wanted.where?.states?.includes(stateOf(facts)))
      : rows.filter(({ disposal }) => disposal === 'waiting'),
};

test('what earlier runs left in the folders for a person: failed or held and still there, or not put away', async () => {
  const left = await leftForYou(ledger, { folders: ['/inbox'], before: 10 }, async (_, path) => path !== 'gone');
  expect(left.map(({ id, state }) => [id, state])).toEqual([
    ['held', 'held'],
    ['failed', 'failed'],
    ['waiting', 'done'],
  ]);
});
