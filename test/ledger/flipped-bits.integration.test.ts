import { cp, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { openReceipts } from '../../src/ledger/receipts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { everyState } from './every-state.ts';

/** A ledger with a row in every state, closed, with the receipts of what is at the service and a copy of before. */
async function soundLedger(): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  await using ledger = await openLedger(scratch.file('sound'));
  await using receipts = await openReceipts(scratch.file('sound'));
  const all = everyState();
  for (const facts of all.slice(0, -3)) await ledger.insert(facts);
  await ledger.backUp();
  for (const facts of all.slice(-3)) await ledger.insert(facts);
  for (const facts of all) if (facts.videoId !== null) await receipts.append('bound', facts);
  await ledger.budget.save({ spent: [1, 2, 3] });
  return scratch;
}

async function rowsOf(stateDir: string): Promise<readonly Facts[]> {
  await using ledger = await openLedger(stateDir);
  return await ledger.rows({ group: 'any', limit: 1_000 });
}

/** With the copy and the receipts that there are. */
const repaired: ReadonlySet<Verdict> = new Set(['as it was', 'rebuilt', 'held']);

type Verdict = 'refused' | 'as it was' | 'held' | 'rebuilt' | 'LOST' | 'WRONG';

/** What became of the rows after one bit of the ledger was another one. */
async function verdictOf(scratch: ScratchDirectory, bit: number, before: readonly Facts[]): Promise<Verdict> {
  const damaged = scratch.file('damaged');
  await cp(scratch.file('sound'), damaged, { recursive: true, force: true });
  const bytes = await readFile(scratch.file('sound/ledger.db'));
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  await writeFile(scratch.file('damaged/ledger.db'), bytes);
  try {
    const after = await rowsOf(damaged);
    if (after.length !== before.length) return 'LOST';
    const changed = after.flatMap((facts, n) =>
      JSON.stringify(facts) === JSON.stringify(before[n]) ? [] : [[facts, before[n]]],
    );
    if (changed.length === 0) return 'as it was';
    if (changed.every(([now]) => now?.end === 'held' && /damaged/.test(now.why ?? ''))) return 'held';
    const isSameFile = ([now, was]: (Facts | undefined)[]): boolean =>
      now?.path === was?.path &&
      now?.videoId === was?.videoId &&
      JSON.stringify(now?.version) === JSON.stringify(was?.version);
    return changed.every(isSameFile) ? 'rebuilt' : 'WRONG';
  } catch (error) {
    if (error instanceof LedgerError) return 'refused';
    throw new Error(`bit ${bit}: ${String(error)}`, { cause: error });
  }
}

async function tally(
  scratch: ScratchDirectory,
  bits: readonly number[],
): Promise<ReadonlyMap<Verdict, readonly number[]>> {
  const before = await rowsOf(scratch.file('sound'));
  const found = new Map<Verdict, number[]>();
  for (const bit of bits) {
    const verdict = await verdictOf(scratch, bit, before);
    found.set(verdict, [...(found.get(verdict) ?? []), bit]);
  }
  return found;
}

/** The same bits every time. */
function bitsOf(seed: number, count: number, from: number, to: number): readonly number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return from + Math.floor((state / 2 ** 32) * (to - from));
  });
}

test('a flipped bit anywhere in what is written is found, or changes nothing', async () => {
  await using scratch = await soundLedger();
  const bytes = await readFile(scratch.file('sound/ledger.db'));
  const written = Array.from(bytes.keys()).filter((at) => bytes[at] !== 0);
  const bits = bitsOf(7, 60, 0, written.length * 8).map((bit) => (written[bit >> 3] ?? 0) * 8 + (bit & 7));
  const found = await tally(scratch, bits);
  expect([found.get('WRONG') ?? [], found.get('LOST') ?? []]).toEqual([[], []]);
});

// An index is on what is inside of these columns. One wrong character in them, and the ledger could not be opened.
test.for(['"code":"existing"', '"afterMs":604800000', '"title":"Clip"'])(
  'a flipped bit that breaks the JSON of a column does not prevent opening the ledger: %s',
  async (text) => {
    await using scratch = await soundLedger();
    const bytes = await readFile(scratch.file('sound/ledger.db'));
    // The quote in front becomes a star.
    const found = await tally(scratch, [bytes.indexOf(text) * 8 + 3]);
    expect([...found.keys()].filter((verdict) => !repaired.has(verdict))).toEqual([]);
  },
);

test('a flipped bit in the text of a row is repaired', async () => {
  await using scratch = await soundLedger();
  const bytes = await readFile(scratch.file('sound/ledger.db'));
  const at = bytes.lastIndexOf('https://up.example/5');
  const found = await tally(scratch, bitsOf(11, 10, at * 8, (at + 20) * 8));
  expect([...found.keys()].filter((verdict) => !repaired.has(verdict))).toEqual([]);
});
