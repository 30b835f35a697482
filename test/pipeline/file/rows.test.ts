import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { StaleRowError } from '../../../src/pipeline/file/ports.ts';
import type { Row } from '../../../src/pipeline/file/rows.ts';
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

  test('is refused while another worker of the same ledger holds it, and for an id that nobody knows', async () => {
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

  test('that somebody wrote in the meantime is not overwritten', async () => {
    const { store, events, rows } = open();
    const write = rows.claim('f_1', async (row: Row) => {
      await store.save({ ...store.row(), why: 'somebody else' });
      await row.write({ attempts: 1 });
    });
    await expect(write).rejects.toThrow(StaleRowError);
    expect([store.row().why, events.told]).toEqual(['somebody else', []]);
  });
});

test.each<[string, () => Promise<boolean>]>([
  ['that the ledger gave to another worker', async () => false],
  ['whose renewal fails again and again', () => Promise.reject(new Error('no connection'))],
])('a claim %s is lost, and nothing is written any more', async (_name, renew) => {
  const store = new MemoryStore([someFacts()]);
  const { claim } = store;
  store.claim = async (id) => {
    const granted = await claim.call(store, id);
    return granted && { ...granted, renew };
  };
  const held = rowsOf(store, recordingEvents(), 1);
  const write = held.claim('f_1', async (row) => {
    await new Promise((resolve) => row.lost.addEventListener('abort', resolve, { once: true }));
    await row.write({ attempts: 1 });
  });
  await expect(write).rejects.toThrow('another worker');
  expect([store.row().attempts, store.claimed.size]).toEqual([0, 0]);
});

test('an inserted row is reported', async () => {
  const { store, events, rows } = open([]);
  await rows.insert(someFacts());
  expect(store.rows).toHaveLength(1);
  expect(events.told).toMatchObject([{ type: 'file', before: null, facts: { id: 'f_1' } }]);
});
