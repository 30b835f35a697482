import { expect, test } from 'vitest';
import { lastKnown } from '../../src/fleet/last-known.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { LedgerUnavailableError } from '../../src/pipeline/file/store-errors.ts';
import { awayWhy } from './fake-fleet.ts';
import { TestClock } from '../pipeline/test-clock.ts';

type Reading = 'answers' | 'refuses' | 'freezes' | 'breaks';

/** A ledger that counts how often it was asked, and answers with that. */
function open() {
  const state = { reading: 'answers' as Reading, asked: 0, away: null as string | null, waits: 0 };
  const clock = new TestClock();
  const ask = async (): Promise<never> => {
    state.asked += 1;
    if (state.reading === 'refuses') throw new LedgerUnavailableError('away');
    if (state.reading === 'breaks') throw new Error('a bug');
    if (state.reading === 'freezes') await new Promise(() => undefined);
    return state.asked as never;
  };
  const ledger = {
    totals: ask,
    history: ask,
    before: ask,
    lines: ask,
    snapshot: ask,
    rows: ask,
    savePause: ask,
    selection: { page: ask, ids: ask },
  };
  const rest = async (): Promise<void> => {
    if (state.reading !== 'freezes') return new Promise(() => undefined);
    state.waits += 1;
    return undefined;
  };
  const known = lastKnown(ledger as unknown as Ledger, { clock, whyAway: () => state.away, rest });
  return { state, clock, known };
}

test.each(['refuses', 'freezes'] as const)(
  'views continue with the last answer while the database %s',
  async (reading) => {
    const { state, known } = open();
    const before = [
      await known.totals('by state'),
      await known.history('f_1'),
      await known.rows({ group: 'abandoned', ends: ['failed'], limit: 9 }),
      await known.selection.page({ folder: '/in' }, { limit: 1 }),
    ];
    state.reading = reading;
    const after = [
      await known.totals('by state'),
      await known.history('f_1'),
      await known.rows({ group: 'abandoned', ends: ['failed'], limit: 9 }),
      await known.selection.page({ folder: '/in' }, { limit: 1 }),
    ];
    expect(after).toEqual(before);
  },
);

test('one view waits for a frozen database, and no other for some time', async () => {
  const { state, clock, known } = open();
  await known.totals('by state');
  state.reading = 'freezes';
  for (let n = 0; n < 10; n += 1) await known.totals('by state');
  expect(state.waits).toBe(1);
  clock.advance(5_000);
  state.reading = 'answers';
  expect(await known.totals('by state')).toBe(state.asked);
});

test('no query is sent while it is known to be away', async () => {
  const { state, known } = open();
  await known.totals('by state');
  [state.away, state.reading] = ['PostgreSQL is away', 'freezes'];
  expect([await known.totals('by state'), state.asked, state.waits]).toEqual([1, 1, 0]);
});

test('what was never asked is not guessed: that is said, with the address, the time and the reason', async () => {
  const { state, known } = open();
  await known.history('f_1');
  state.away = awayWhy;
  const asked = known.history('f_2');
  await expect(asked).rejects.toThrow(LedgerUnavailableError);
  await expect(asked).rejects.toThrow(`${awayWhy}. Repeat this once it answers`);
  // A view can do without them.
  expect([[...(await known.before(['f_2'], 1, []))], await known.lines([])]).toEqual([[], []]);
});

test('a view of files under way is the same whichever of them steps work on now', async () => {
  const { state, known } = open();
  await known.selection.page({ working: ['f_1'] }, { limit: 1 });
  const query = { held: () => ['f_1'], working: 20, needing: 20 };
  await known.snapshot(query);
  state.reading = 'refuses';
  expect(await known.selection.page({ working: ['f_2'] }, { limit: 1 })).toBe(1);
  expect(await known.snapshot({ ...query, held: () => [] })).toBe(2);
  await expect(known.snapshot({ ...query, working: 1_000 })).rejects.toThrow(LedgerUnavailableError);
});

test('what changes something, or acts on what it reads, fails as it is; so does a bug', async () => {
  const { state, known } = open();
  await known.totals('by state');
  await known.selection.ids({}, 1);
  await known.rows({ group: 'any', limit: 9 });
  state.reading = 'refuses';
  await expect(known.savePause({} as never, null)).rejects.toThrow(LedgerUnavailableError);
  await expect(known.selection.ids({}, 1)).rejects.toThrow(LedgerUnavailableError);
  await expect(known.rows({ group: 'any', limit: 9 })).rejects.toThrow(LedgerUnavailableError);
  state.reading = 'breaks';
  const fresh = open();
  fresh.state.reading = 'breaks';
  await expect(fresh.known.totals('by state')).rejects.toThrow('a bug');
});
