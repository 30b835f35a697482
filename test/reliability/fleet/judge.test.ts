import { describe, expect, test } from 'vitest';
import { fleetInvariants, fleetViolations, takeoverMs } from './judge.ts';
import type { FleetEvidence, FleetInvariant } from './judge.ts';

/** ingest1 dies with a file, and ingest2 takes it over. */
const good: FleetEvidence = {
  observed: [
    { at: 0, what: 'granted', file: 'f_1', by: 'ingest1' },
    { at: 10, what: 'written', file: 'f_1', by: 'ingest1' },
    { at: 12_000, what: 'expired', file: 'f_1', by: 'ingest2' },
    { at: 12_500, what: 'granted', file: 'f_1', by: 'ingest2' },
    { at: 12_600, what: 'written', file: 'f_1', by: 'ingest2' },
    { at: 12_700, what: 'freed', file: 'f_1', by: 'ingest2' },
    { at: 12_800, what: 'written', file: 'f_1', by: 'ingest3' },
  ],
  troubles: [{ from: 1_000, to: 20_000, member: 'ingest1' }],
  losses: [{ at: 1_000, member: 'ingest1', calmUntil: 60_000 }],
  completions: [{ at: 12_650, by: 'ingest2', file: 'f_1' }],
  requests: [{ at: 0 }, { at: 3_600_000 }, { at: 3_600_001 }],
  requestsPerHour: 2,
  publishes: [{ at: 3, feed: 'feed_news' }],
};

/** For each invariant what breaks it. */
const breaches: Readonly<Record<FleetInvariant, Partial<FleetEvidence>>> = {
  'no host writes a file that another holds': {
    observed: [...good.observed.slice(0, 4), { at: 12_550, what: 'written', file: 'f_1', by: 'ingest1' }],
  },
  'no two members hold a file': {
    observed: [...good.observed.slice(0, 2), { at: 5_000, what: 'granted', file: 'f_1', by: 'ingest2' }],
  },
  'no host completes a file that another holds': { completions: [{ at: 12_650, by: 'ingest1', file: 'f_1' }] },
  'what a dead member held is free within the lease': {
    observed: [...good.observed.slice(0, 2), { at: 1_001 + takeoverMs, what: 'freed', file: 'f_1', by: 'ingest2' }],
  },
  'what a living member holds stays its own': { troubles: [{ from: 1_000, to: 20_000, member: 'ingest3' }] },
  'no rolling hour has more requests than the budget': { requests: [{ at: 0 }, { at: 1_000 }, { at: 3_599_999 }] },
  'a feed is published after the last time that this was wanted': {
    observed: [...good.observed, { at: 13_000, what: 'wanted', file: 'feed_news', by: 'ingest2' }],
  },
};

test('the judge of a fleet finds nothing where nothing is wrong', () => {
  expect(fleetViolations(good)).toEqual([]);
});

test.for(Object.keys(fleetInvariants) as FleetInvariant[])('the judge of a fleet sees a breach of: %s', (invariant) => {
  const found = fleetViolations({ ...good, ...breaches[invariant] });
  expect(found.map((one) => one.invariant)).toContain(invariant);
});

test('the judge of a fleet sees a lease that is taken late from a member that was cut off, where another one looked', () => {
  const troubles = [{ from: -9_000, to: -2_000, member: 'ingest1' }];
  const found = fleetViolations({ ...good, troubles, losses: [] });
  expect(found.map((one) => one.invariant)).toEqual(['what a living member holds stays its own']);
});

describe('the judge of a fleet finds nothing', () => {
  test('where something else went wrong before the lease was over', () => {
    const observed = good.observed.slice(0, 2);
    const losses = [{ at: 1_000, member: 'ingest1', calmUntil: 1_000 + takeoverMs - 1 }];
    expect(fleetViolations({ ...good, observed, losses, completions: [] })).toEqual([]);
  });

  test('where a lease that was lost while PostgreSQL was away is over before the members look again', () => {
    const troubles = [{ from: -9_000, to: -2_000, member: null }];
    expect(fleetViolations({ ...good, troubles, losses: [] })).toEqual([]);
  });

  test.for([
    ['no other host was there', -10_000, 500],
    ['the other one died before the lease was over', 4_000, 20_000],
  ] as const)('where a member could not continue for a while, and %s to look', ([, from, to]) => {
    const troubles = [
      { from: -9_000, to: -2_000, member: 'ingest1' },
      { from, to, member: 'ingest2' },
    ];
    expect(fleetViolations({ ...good, troubles, losses: [] })).toEqual([]);
  });

  test('where receipts of another member are brought in while a file is held', () => {
    const restored = { at: 12_550, what: 'restored', file: 'f_1', by: 'ingest3' } as const;
    expect(fleetViolations({ ...good, observed: good.observed.toSpliced(4, 0, restored) })).toEqual([]);
  });

  test('where exactly the budget was used in every hour', () => {
    const requests = [0, 1, 3_600_000, 3_600_001].map((at) => ({ at }));
    expect(fleetViolations({ ...good, requests })).toEqual([]);
  });
});
