import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { StaleRowError } from '../../../src/pipeline/file/ports.ts';
import type { Claim } from '../../../src/pipeline/file/ports.ts';
import { LostClaimError } from '../../../src/pipeline/file/rows.ts';
import type { Row } from '../../../src/pipeline/file/rows.ts';
import { LedgerUnavailableError } from '../../../src/pipeline/file/store-errors.ts';
import { recordingEvents, rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { someFacts } from '../some-facts.ts';

function open(rows: readonly Facts[] = [someFacts()]) {
  const store = new MemoryStore(rows);
  const events = recordingEvents();
  return { store, events, rows: rowsOf(store, events) };
}

describe('a row that is held', () => {
  test('is written and reported once per change, and the next write builds on it', async () => {
    const { store, events, rows } = open();
    await rows.claim('f_1', async (row) => {
      await row.write({ intent: 't1' }, 'first');
      await row.write({ attempts: 1 });
      expect(row.facts).toEqual(store.row());
    });
    expect(store.row()).toMatchObject({ intent: 't1', attempts: 1, rev: 2 });
    expect(events.told).toMatchObject([
      { type: 'file', before: { intent: null }, facts: { intent: 't1' }, note: 'first' },
      { type: 'file', before: { attempts: 0 }, facts: { attempts: 1 }, note: null },
    ]);
  });

  test('is not written when nothing changes, whatever revision the caller has', async () => {
    const { store, events, rows } = open();
    await rows.claim('f_1', (row) => row.write({ ...row.facts, rev: 7 }));
    expect([store.row().rev, events.told]).toEqual([0, []]);
  });

  test('takes whole facts for its next revision, whatever revision they have', async () => {
    const { store, rows } = open();
    await rows.claim('f_1', async (row) => {
      const older = row.facts;
      await row.write({ attempts: 1 });
      await row.write({ ...older, attempts: 2 });
    });
    expect(store.row()).toMatchObject({ attempts: 2, rev: 2 });
  });

  test('is held by one at a time, and given back when the work throws', async () => {
    const { rows } = open();
    const first = rows.claim('f_1', async () => {
      expect(rows.isHeld('f_1')).toBe(true);
      expect(await rows.claim('f_1', () => Promise.resolve('second'))).toBeNull();
      throw new Error('boom');
    });
    await expect(first).rejects.toThrow('boom');
    expect(await rows.claim('f_1', () => Promise.resolve('mine'))).toBe('mine');
  });

  test('is refused while another worker of the same ledger holds it, and for an unknown id', async () => {
    const { store, rows } = open();
    store.claimed.add('f_1');
    expect(await rows.claim('f_1', () => Promise.resolve('mine'))).toBeNull();
    expect(await rows.claim('f_2', () => Promise.resolve('mine'))).toBeNull();
  });

  test('takes writes one after the other when they are not awaited', async () => {
    const { store, rows } = open();
    await rows.claim('f_1', (row) => Promise.all([row.write({ attempts: 1 }), row.write({ intent: 't1' })]));
    expect(store.row()).toMatchObject({ attempts: 1, intent: 't1', rev: 2 });
  });

  test('that was written in the meantime is not overwritten', async () => {
    const { store, events, rows } = open();
    const write = rows.claim('f_1', async (row: Row) => {
      await store.save({ ...store.row(), why: 'somebody else' });
      await row.write({ attempts: 1 });
    });
    await expect(write).rejects.toThrow(StaleRowError);
    expect([store.row().why, events.told]).toEqual(['somebody else', []]);
  });
});

/** A store whose claims are what the test makes of them. */
function claimsOf(store: MemoryStore, change: Partial<Claim>): void {
  const { claim } = store;
  store.claim = async (id) => {
    const granted = await claim.call(store, id);
    return granted && { ...granted, ...change };
  };
}

test('a lost claim writes nothing more', async () => {
  const { store, rows } = open();
  const lost = new AbortController();
  claimsOf(store, { lost: lost.signal });
  const write = rows.claim('f_1', async (row) => {
    lost.abort();
    expect(row.lost.aborted).toBe(true);
    await row.write({ attempts: 1 });
  });
  await expect(write).rejects.toThrow(LostClaimError);
  expect([store.row().attempts, store.claimed.size]).toEqual([0, 0]);
});

describe('a claim is confirmed', () => {
  const lost = new AbortController();
  test.each<[string, Partial<Claim>, (new (...args: never[]) => Error) | null]>([
    ['when it is renewed', { renew: async () => true }, null],
    ['unless it went to another worker', { renew: async () => false }, LostClaimError],
    [
      'unless that is unknown',
      { renew: () => Promise.reject(new LedgerUnavailableError('busy')) },
      LedgerUnavailableError,
    ],
    ['unless it was lost before', { lost: AbortSignal.abort(), renew: async () => true }, LostClaimError],
    [
      'unless it was lost while the answer was on its way',
      { lost: lost.signal, renew: async () => (lost.abort(), true) },
      LostClaimError,
    ],
  ])('%s', async (_name, change, error) => {
    const { store, rows } = open();
    claimsOf(store, change);
    const confirmed = rows.claim('f_1', (row) => row.confirm());
    if (error === null) await confirmed;
    else await expect(confirmed).rejects.toThrow(error);
  });
});

test('an inserted row is reported', async () => {
  const { store, events, rows } = open([]);
  await rows.insert(someFacts());
  expect(store.all).toHaveLength(1);
  expect(events.told).toMatchObject([{ type: 'file', before: null, facts: { id: 'f_1' } }]);
});
