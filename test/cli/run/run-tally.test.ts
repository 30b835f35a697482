import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunTally } from '../../../src/cli/run/run-tally.ts';
import type { RunTotals } from '../../../src/cli/run/run-tally.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { created, someFacts, someVersion, uploaded } from '../../pipeline/some-facts.ts';

const since = 1_000;

const stages: readonly Partial<Facts>[] = [
  {},
  created,
  uploaded,
  { ...uploaded, end: 'done', endedAt: since + 5 },
  { end: 'failed', endedAt: since + 5 },
  { end: 'held', endedAt: since + 5 },
  { end: 'skipped', endedAt: since + 5 },
  { end: 'vanished', endedAt: since + 5 },
];

/** Some rows of the ledger, written again and again: what a run and its beginning may look like. */
const runs = fc.record({
  earlier: fc.array(fc.nat(stages.length - 1), { maxLength: 6 }),
  writes: fc.array(fc.record({ file: fc.nat(8), stage: fc.nat(stages.length - 1) }), { maxLength: 60 }),
  /** How many of the writes the listing has already, and how many of those are told only after it. */
  listed: fc.nat(60),
  late: fc.nat(5),
});

test('the sums are those of all rows of the run, whatever was written while it began', () => {
  fc.assert(
    fc.property(runs, ({ earlier, writes, listed, late }) => {
      const rows = new Map<string, Facts>();
      for (const [n, stage] of earlier.entries()) rows.set(`f_${n}`, longAgo(row(n, 0, stages[stage])));
      const tally = new RunTally(since);
      const told: (() => void)[] = [];
      for (const [index, { file, stage }] of writes.entries()) {
        if (index === listed) begin(tally, rows, told, late);
        const before = rows.get(`f_${file}`) ?? null;
        const facts = {
          ...row(file, (before?.rev ?? -1) + 1, stages[stage]),
          discoveredAt: before?.discoveredAt ?? since,
        };
        rows.set(facts.id, facts);
        told.push(() => tally.note({ type: 'file', before, facts, note: null }));
        if (index >= listed) for (const tell of told.splice(0)) tell();
      }
      if (listed >= writes.length) begin(tally, rows, told, late);
      for (const tell of told.splice(0)) tell();
      expect(tally.totals()).toEqual(sumsOf(ofRun([...rows.values()])));
      expect([...tally.active().values()].map(({ id }) => id).toSorted()).toEqual(
        [...rows.values()]
          .filter(({ end }) => end === null)
          .map(({ id }) => id)
          .toSorted(),
      );
    }),
  );
});

test('a file that had ended before the run, and is moved during it, is not of the run', () => {
  const tally = new RunTally(since);
  tally.begin([]);
  const before = someFacts({ discoveredAt: 1, end: 'done', endedAt: 2, disposal: 'pending' });
  tally.note({ type: 'file', before, facts: { ...before, rev: 1, disposal: 'moved' }, note: null });
  expect(tally.totals().total).toBe(0);
  expect(tally.takeChanged()).toEqual([]);
});

test('a file is shown once when it ends, not again when it is moved', () => {
  const tally = new RunTally(since);
  tally.begin([someFacts(uploaded)]);
  expect(tally.takeChanged()).toHaveLength(1);
  const done = someFacts({ ...uploaded, rev: 1, end: 'done', endedAt: since + 1, disposal: 'pending' });
  tally.note({ type: 'file', before: someFacts(uploaded), facts: done, note: null });
  expect(tally.takeChanged().map(({ end }) => end)).toEqual(['done']);
  tally.note({ type: 'file', before: done, facts: { ...done, rev: 2, disposal: 'moved' }, note: null });
  expect(tally.takeChanged()).toEqual([]);
});

function begin(tally: RunTally, rows: ReadonlyMap<string, Facts>, told: (() => void)[], late: number): void {
  for (const tell of told.splice(0, Math.max(0, told.length - late))) tell();
  tally.begin(ofRun([...rows.values()]));
}

function longAgo(facts: Facts): Facts {
  return { ...facts, discoveredAt: 1, endedAt: facts.end === null ? null : 2 };
}

/** What the ledger lists. */
function ofRun(rows: readonly Facts[]): readonly Facts[] {
  return rows.filter(
    ({ end, endedAt, discoveredAt }) => end === null || (endedAt ?? 0) >= since || discoveredAt >= since,
  );
}

function row(file: number, rev: number, stage: Partial<Facts> = {}): Facts {
  return someFacts({
    ...stage,
    id: `f_${file}`,
    rev,
    discoveredAt: since,
    version: { ...someVersion, size: 2 ** file },
  });
}

function sumsOf(rows: readonly Facts[]): RunTotals {
  const count = (...ends: readonly (string | null)[]): number => rows.filter(({ end }) => ends.includes(end)).length;
  const bytes = (of: readonly Facts[]): number => of.reduce((sum, { version }) => sum + version.size, 0);
  const sent = rows.filter(({ end }) => end === null || end === 'done' || end === 'failed');
  return {
    done: count('done', 'skipped'),
    failed: count('failed'),
    held: count('held'),
    total: rows.length - count('vanished', 'superseded'),
    sentBytes: bytes(sent.filter(({ uploadedAt }) => uploadedAt !== null)),
    totalBytes: bytes(sent),
  };
}
