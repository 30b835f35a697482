import { describe, expect, test } from 'vitest';
import type { Plant, Setting, Verdict } from './explored-world.ts';
import { explore } from './explore.ts';

/** Faults in one life at most. More for a long run: 4 takes minutes. */
const mostFaults = Number(process.env['DROPCAST_FAULTS'] ?? 3);

const timeout = mostFaults > 3 ? 3_600_000 : 120_000;

const worlds: readonly {
  readonly name: string;
  readonly setting: Setting;
  readonly faults: number;
  readonly least: number;
}[] = [
  { name: 'late requests soon', setting: { lateness: 4 }, faults: mostFaults - 1, least: 400 },
  { name: 'late requests long after', setting: { lateness: 12 }, faults: mostFaults, least: 6_000 },
  { name: 'a status that lags', setting: { lag: 3, lateness: 12 }, faults: mostFaults - 1, least: 600 },
  {
    name: 'a user who deletes the file',
    setting: { mayDelete: true, lag: 2, lateness: 12 },
    faults: mostFaults,
    least: 12_000,
  },
  { name: 'an import', setting: { isImport: true }, faults: mostFaults, least: 150 },
];

describe('every schedule of crashes and answers', () => {
  test.each(worlds)(
    'with $name: no duplicate, nothing lost, nothing stuck, no ready video deleted',
    async ({ setting, faults, least }) => {
      const { schedules, violations } = await explore(faults, setting);
      expect([...violations]).toEqual([]);
      expect(schedules).toBeGreaterThan(least);
    },
    timeout,
  );

  test('an import whose answer is lost is never repeated automatically', async () => {
    const { ends } = await explore(1, { isImport: true });
    const kinds = new Set([...ends.keys()].map((end) => end.split(':')[0]));
    expect(kinds).toEqual(new Set(['done', 'held']));
  });
});

const plants: readonly (readonly [Plant, Verdict])[] = [
  ['dying is not durable', 'ready video deleted'],
  ['never asks', 'upload repeated unasked'],
  ['binds after the upload', 'duplicate'],
  ['binds after the upload', 'bytes before bound'],
  ['replaces without deleting', 'duplicate'],
  ['one token', 'token used twice'],
  ['forgets tokens', 'record unaccounted for'],
];

test(
  'the judge sees the only copy deleted, when the daemon does not look for the file before',
  async () => {
    const setting = { plant: 'deletes without the file', mayDelete: true, lag: 2, lateness: 12 } as const;
    const { violations } = await explore(3, setting, 'only copy deleted');
    expect([...violations.keys()]).toContain('only copy deleted');
  },
  timeout,
);

test.each(plants)('the judge sees a planted bug: %s gives "%s"', async (plant, verdict) => {
  const { violations } = await explore(2, { plant, lateness: 12 }, verdict);
  expect([...violations.keys()]).toContain(verdict);
});
