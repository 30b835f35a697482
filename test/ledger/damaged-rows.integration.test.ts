import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { createFiles } from '../../src/ledger/files.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { openDatabase } from '../../src/ledger/sqlite/open-database.ts';
import { openReceipts } from '../../src/ledger/receipts.ts';
import { connectTo } from '../../src/ledger/sqlite/connection.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { LedgerUnavailableError } from '../../src/pipeline/file/store-errors.ts';
import { created, someFacts, uploaded } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';
import { everyState } from './every-state.ts';

/** Changes rows as no dropcast would: past their checksum. */
async function damage(stateDir: string, sql: string): Promise<void> {
  const database = await openDatabase(`${stateDir}/ledger.db`);
  database.exec(sql);
  database.close();
}

function changeCopy(path: string, sql: string): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

/** A ledger with one file that is under way, and, if wanted, a copy and receipts of it. */
async function ledgerWith({ copy, receipt }: { copy: boolean; receipt: boolean }): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  await using ledger = await openLedger(scratch.path);
  await using receipts = await openReceipts(scratch.path);
  await ledger.insert(someFacts({ suspects: ['token-1'] }));
  await ledger.insert(someFacts({ id: 'f_2', path: 'sound.mp4' }));
  if (copy) await ledger.backUp();
  const facts = await ledger.load('f_1');
  if (!receipt || facts === null) return scratch;
  await receipts.append('bound', { ...facts, ...created });
  await receipts.append('uploaded', { ...facts, ...uploaded });
  await ledger.save({ ...facts, ...uploaded });
  return scratch;
}

const manyBits = "UPDATE file SET size = 77, plan = '{broken', sha256 = 'zzz' WHERE id = 'f_1'";

describe('a damaged row', () => {
  test.each([
    [{ copy: true, receipt: true }, 'processing', /rebuilt from a copy/],
    [{ copy: true, receipt: false }, 'queued', /rebuilt from a copy/],
    [{ copy: false, receipt: true }, 'processing', /rebuilt from receipts/],
    [{ copy: false, receipt: false }, 'held', /neither a copy .* nor a receipt/],
  ])('is rebuilt from what there is: %o', async (from, state, note) => {
    await using scratch = await ledgerWith(from);
    const before = from.receipt ? { ...someFacts(), ...uploaded } : someFacts();
    await damage(scratch.path, manyBits);
    await using ledger = await openLedger(scratch.path);
    expect(ledger.repairs).toEqual([expect.stringMatching(note)]);
    const facts = await ledger.load('f_1');
    expect(facts && stateOf(facts)).toBe(state);
    expect((await ledger.history('f_1')).at(-1)?.note).toMatch(note);
    expect(await ledger.load('f_2')).toMatchObject({ path: 'sound.mp4', end: null });
    if (state === 'held') expect(facts?.why).toMatch(/damaged/);
    else
      expect(facts).toMatchObject({
        version: before.version,
        plan: before.plan,
        videoId: before.videoId,
        sha256: before.sha256,
      });
    // What the service may hold without bytes is still known.
    if (from.copy || state === 'held') expect(facts?.suspects).toContain('token-1');
  });

  test.each<[string, (path: string) => Promise<void>]>([
    ['the same row damaged', async (path) => changeCopy(path, manyBits)],
    ['a number in it that is too large', async (path) => changeCopy(path, 'UPDATE file SET size = 1 << 62')],
    ['pages that are damaged', (path) => writeFile(path, Buffer.alloc(65_536, 'x'))],
  ])('does not need a copy that has %s', async (_, spoilCopy) => {
    for (const [receipt, note] of [
      [true, /rebuilt from receipts/],
      [false, /neither a copy .* nor a receipt/],
    ] as const) {
      await using scratch = await ledgerWith({ copy: true, receipt });
      await spoilCopy(scratch.file('backups/ledger.1.db'));
      await damage(scratch.path, manyBits);
      await using ledger = await openLedger(scratch.path);
      expect(ledger.repairs).toEqual([expect.stringMatching(note)]);
      expect(await ledger.load('f_2')).toMatchObject({ path: 'sound.mp4', end: null });
    }
  });

  test('that was held stays so until a person retries it', async () => {
    await using scratch = await ledgerWith({ copy: false, receipt: false });
    await damage(scratch.path, manyBits);
    await (await openLedger(scratch.path))[Symbol.asyncDispose]();
    await using ledger = await openLedger(scratch.path);
    expect(ledger.repairs).toEqual([]);
    expect(await ledger.totals('by state')).toEqual({ held: 1, queued: 1 });
  });
});

/** Writes into the file of a ledger that is open, as a failing disk does. */
async function spoil(stateDir: string, text: string, by: string): Promise<void> {
  const path = `${stateDir}/ledger.db`;
  const bytes = await readFile(path);
  await using file = await open(path, 'r+');
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) await file.write(by, at);
}

describe('a row that is damaged while the ledger is open', () => {
  /** Larger than what SQLite keeps in memory. */
  async function largeLedger(): Promise<ScratchDirectory> {
    const scratch = await scratchDirectory();
    await using ledger = await openLedger(scratch.path);
    const names = ['first', ...Array.from({ length: 700 }, (_, n) => `clip ${n}`)];
    const insert = (name: string) =>
      ledger.insert(
        someFacts({ id: `f_${name}`, path: `${name}.mp4`, sha256: `hash of ${name}`, why: 'x'.repeat(2_500) }),
      );
    await Promise.all(names.map(insert));
    return scratch;
  }

  test.each([
    ['one wrong bit', 'hash of firsu'],
    ['many', 'hash of XXXXX'],
  ])('is repaired by the call that meets it, and holds this one file: %s', async (_name, by) => {
    const facts = { path: 'first.mp4', end: 'held' };
    await using scratch = await largeLedger();
    const said: string[] = [];
    await using ledger = await openLedger(scratch.path, (what) => said.push(what));
    await spoil(scratch.path, 'hash of first', by);
    const [, second] = await Promise.all([
      ledger.rows({ group: 'any', where: { states: ['queued'] }, limit: 10 }),
      ledger.rows({ group: 'any', limit: 10 }),
      ledger.rows({ group: 'in state', state: 'queued', limit: 10 }),
    ]);
    expect(second[0]).toMatchObject(facts);
    expect(second[1]).toMatchObject({ path: 'clip 0.mp4', end: null });
    expect(said).toEqual([expect.stringMatching(/neither a copy .* nor a receipt/)]);
    expect(await ledger.claim('f_first')).toMatchObject({ facts });
    expect(await ledger.count({ states: ['queued', 'held'] })).toBe(701);
  });
});

test('a row that changes on disk while the ledger is open is not believed', async () => {
  await using scratch = await scratchDirectory();
  {
    await using ledger = await openLedger(scratch.path);
    await ledger.insert(someFacts());
  }
  await damage(scratch.path, "UPDATE file SET path = 'other.mp4'");
  const database = await openDatabase(scratch.file('ledger.db'));
  const connection = connectTo(database);
  await expect(createFiles(connection).load('f_1')).rejects.toThrow(LedgerUnavailableError);
  await connection.db.destroy();
});

test('text that SQLite keeps in another form is no damage', async () => {
  await using scratch = await scratchDirectory();
  {
    await using ledger = await openLedger(scratch.path);
    await ledger.insert(someFacts({ why: 'half a pair: \ud800', remoteStatus: '\udc00x', path: 'a\0b.mp4' }));
    for (const facts of everyState()) await ledger.insert({ ...facts, id: `${facts.id}_again` });
  }
  await using ledger = await openLedger(scratch.path);
  expect(ledger.repairs).toEqual([]);
});

test('a damaged last line of history does not bring old receipts back', async () => {
  await using scratch = await ledgerWith({ copy: false, receipt: true });
  {
    await using ledger = await openLedger(scratch.path);
    const facts = await ledger.load('f_1');
    // What happens in one millisecond has no order.
    const written = Date.now();
    await until('the clock goes on', () => Date.now() > written);
    if (facts !== null) await ledger.save({ ...facts, why: 'noted' }, 'noted');
    // Somebody started the file again.
    if (facts !== null)
      await ledger.save({
        ...facts,
        rev: facts.rev + 1,
        videoId: null,
        uploadUrl: null,
        sha256: null,
        uploadedAt: null,
      });
  }
  await damage(scratch.path, 'UPDATE history SET at = 0 WHERE seq = (SELECT max(seq) FROM history)');
  await using ledger = await openLedger(scratch.path);
  expect(await ledger.load('f_1')).toMatchObject({ videoId: null });
});

test('damaged figures of the budget do not prevent a start', async () => {
  await using scratch = await scratchDirectory();
  {
    await using ledger = await openLedger(scratch.path);
    await ledger.budget.save([1, 2]);
  }
  await damage(scratch.path, "UPDATE budget SET spent = '{'");
  await using ledger = await openLedger(scratch.path);
  expect(await ledger.budget.load()).toBeNull();
  await rm(scratch.file('receipts.jsonl'), { force: true });
});

describe('after a clean stop, a ledger that is opened in haste', () => {
  test('still finds a damaged row, when it is verified', async () => {
    await using scratch = await ledgerWith({ copy: false, receipt: false });
    await damage(scratch.path, manyBits.replace('f_1', 'f_2'));
    await using ledger = await openLedger(scratch.path, undefined, true);
    expect(ledger.repairs).toEqual([]);
    expect(await ledger.verify()).toEqual([expect.stringMatching(/neither a copy .* nor a receipt/)]);
    expect(await ledger.verify()).toEqual([]);
    expect(await ledger.load('f_2')).toMatchObject({ end: 'held' });
  });

  test('finds a damaged row that it meets on the way at once', async () => {
    await using scratch = await ledgerWith({ copy: false, receipt: false });
    await damage(scratch.path, manyBits);
    await using ledger = await openLedger(scratch.path, undefined, true);
    expect(ledger.repairs).toHaveLength(1);
  });

  test('still finds a damaged page, when it is verified', async () => {
    await using scratch = await ledgerWith({ copy: false, receipt: false });
    await damagePage(scratch.file('ledger.db'));
    await expect(openLedger(scratch.path)).rejects.toThrow(LedgerError);
    await using ledger = await openLedger(scratch.path, undefined, true);
    await expect(ledger.verify()).rejects.toThrow(/damaged/);
  });

  test('is verified at once after a stop that was none', async () => {
    await using scratch = await ledgerWith({ copy: false, receipt: false });
    await damage(scratch.path, manyBits);
    await writeFile(scratch.file('ledger.db-wal'), '');
    await using ledger = await openLedger(scratch.path, undefined, true);
    expect(ledger.repairs).toHaveLength(1);
    expect(await ledger.verify()).toEqual([]);
  });
});

/** Overwrites the root page of an index. */
async function damagePage(path: string): Promise<void> {
  const database = new DatabaseSync(path);
  const root = Number(
    database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'file_path'").get()?.['rootpage'],
  );
  const size = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
  database.close();
  await using file = await open(path, 'r+');
  await file.write(Buffer.alloc(64, 0xff), 0, 64, (root - 1) * size);
}
