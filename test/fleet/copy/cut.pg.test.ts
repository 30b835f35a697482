import { mkdir, readdir, rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Copied } from '../../../src/fleet/copy/copy-ledger.ts';
import { copyToPostgres, copyToSqlite } from '../../../src/fleet/copy/move.ts';
import type { Fleet } from '../../../src/fleet/copy/move.ts';
import { LedgerError } from '../../../src/ledger/ledger-error.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { migrate } from '../../../src/fleet/postgres/migrations.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { dump, fill, fillBeside, freshFleet, rowsIn, toFleet, toHost } from './copying.ts';
import { cutAt, losingCommit, withTransactions } from './cut.ts';

let fleet: Awaited<ReturnType<typeof freshFleet>>;

beforeAll(async () => {
  fleet = await freshFleet();
});

afterAll(() => fleet[Symbol.asyncDispose]());

beforeEach(async () => {
  await fleet.clear();
  await migrate(fleet);
});

/** @param step 1: cuts a copy at its first statement, at its second, and so on, until there is none left to cut */
async function cutEverywhere(
  step: number,
  copy: (fleet: Fleet) => Promise<readonly Copied[]>,
  look: () => Promise<void>,
) {
  for (let nth = 1; ; nth += step) {
    using cut = cutAt(fleet, nth);
    const copied = await copy(cut.fleet).catch((error: unknown) => error);
    if (Array.isArray(copied)) return { last: nth, asked: cut.asked(), copied: copied as readonly Copied[] };
    expect(copied, `cut at ${nth}`).toBeInstanceOf(LedgerError);
    expect(String(copied), `cut at ${nth}`).toMatch(
      /(?:nothing was copied|ledger\.db\.copy cannot be used): .*(?:cut|full)/,
    );
    await look();
  }
}

async function filled(stateDir: string) {
  const id = await fill(stateDir);
  fillBeside(stateDir);
  await (await openLedger(stateDir))[Symbol.asyncDispose]();
  return { id, rows: dump(stateDir) };
}

test('a copy to PostgreSQL that is cut at any of its statements copied nothing, and the next one does', async () => {
  await using scratch = await scratchDirectory();
  const before = await filled(scratch.path);
  const empty = await rowsIn(fleet.pool);
  const { last, asked, copied } = await cutEverywhere(
    1,
    (cut) => copyToPostgres(scratch.path, cut, toFleet),
    async () => {
      expect(await rowsIn(fleet.pool)).toEqual(empty);
      expect(await readdir(scratch.path)).not.toContain('ledger.elsewhere');
    },
  );
  expect(last).toBe(asked + 1);
  expect(asked).toBeGreaterThan(100);
  expect(dump(scratch.path)).toEqual(before.rows);
  expect(await rowsIn(fleet.pool)).toMatchObject(
    Object.fromEntries(copied.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, rows])),
  );
});

/** A ledger that went to the fleet, and the state directory that it left. */
async function inFleet(stateDir: string) {
  const before = await filled(stateDir);
  await copyToPostgres(stateDir, fleet, toFleet);
  return { ...before, fleet: await rowsIn(fleet.pool) };
}

test.each([
  ['that it left', 1],
  ['that is new', 20],
] as const)(
  'a copy back, to a state directory %s, that is cut copied nothing, and the next one does (at each statement, or every %i)',
  async (which, step) => {
    await using scratch = await scratchDirectory();
    const left = scratch.file('left');
    const before = await inFleet(left);
    const stateDir = which === 'that it left' ? left : scratch.file('new');
    await mkdir(stateDir, { recursive: true });
    const names = await readdir(stateDir);
    const { last, asked } = await cutEverywhere(
      step,
      (cut) => copyToSqlite(cut, stateDir, toHost),
      async () => expect(await readdir(stateDir)).toEqual(names),
    );
    expect(last).toBeGreaterThan(asked);
    expect(asked).toBeGreaterThan(100);
    await using ledger = await openLedger(stateDir);
    expect([ledger.id, ledger.repairs]).toEqual([before.id, []]);
    expect(await rowsIn(fleet.pool)).toEqual(before.fleet);
    const aside = (await readdir(stateDir)).filter((name) => name.includes('old'));
    expect(aside).toHaveLength(which === 'that it left' ? 1 : 0);
  },
);

test.each(['committed', 'aborted'] as const)(
  'when the connection is lost in the COMMIT, which was %s, the result is unknown, and the same command finds out',
  async (outcome) => {
    await using scratch = await scratchDirectory();
    const { id } = await filled(scratch.path);
    const lost = copyToPostgres(scratch.path, losingCommit(fleet, outcome), toFleet);
    await expect(lost).rejects.toThrow(/it is unknown whether the ledger was copied; run the same command again/);
    await expect(lost).rejects.toBeInstanceOf(LedgerError);
    const there = await rowsIn(fleet.pool);
    expect(there['file'] ?? 0).toBe(outcome === 'committed' ? 26 : 0);
    const copied = await copyToPostgres(scratch.path, fleet, toFleet);
    expect(copied.find(({ table }) => table === 'file')?.rows).toBe(26);
    expect(await fleet.pool.rows('SELECT ledger FROM identity')).toEqual([{ ledger: id }]);
    await expect(openLedger(scratch.path)).rejects.toThrow('is in PostgreSQL');
  },
);

test('a copy that hosts have worked on since is not taken for the ledger that it was', async () => {
  await using scratch = await scratchDirectory();
  await inFleet(scratch.path);
  await rm(scratch.file('ledger.elsewhere'));
  await fleet.pool.rows("UPDATE file SET why = 'of the fleet' WHERE seq = 1");
  await expect(copyToPostgres(scratch.path, fleet, toFleet)).rejects.toThrow('already has a ledger that is not empty');
});

describe('when the state directory refuses what is written last, the same command finishes it', () => {
  test('to PostgreSQL', async () => {
    await using scratch = await scratchDirectory();
    await filled(scratch.path);
    await mkdir(scratch.file('ledger.elsewhere.new'));
    await expect(copyToPostgres(scratch.path, fleet, toFleet)).rejects.toThrow(/run the same command again/);
    await rm(scratch.file('ledger.elsewhere.new'), { recursive: true });
    await copyToPostgres(scratch.path, fleet, toFleet);
    await expect(openLedger(scratch.path)).rejects.toThrow('is in PostgreSQL');
  });

  test('to a state directory', async () => {
    await using scratch = await scratchDirectory();
    const { id } = await inFleet(scratch.file('left'));
    const stateDir = scratch.file('new');
    await mkdir(scratch.file('new', 'ledger.id.new'), { recursive: true });
    await expect(copyToSqlite(fleet, stateDir, toHost)).rejects.toThrow(/run the same command again/);
    await rm(scratch.file('new', 'ledger.id.new'), { recursive: true });
    await copyToSqlite(fleet, stateDir, toHost);
    await using ledger = await openLedger(stateDir);
    expect(ledger.id).toBe(id);
  });
});

test('what a copy back reads is of one moment', async () => {
  await using scratch = await scratchDirectory();
  const before = await inFleet(scratch.file('left'));
  const writes = [() => fleet.pool.rows("INSERT INTO deletion VALUES ('vid_late', 9)")];
  const meanwhile = withTransactions(fleet, (work, kind) =>
    fleet.pool.transaction(
      (ask) =>
        work(async (text, ...asked) => {
          const rows = await ask(text, ...(asked as []));
          if (text.includes('FROM history')) await writes.pop()?.();
          return rows as never;
        }),
      kind,
    ),
  );
  await copyToSqlite(meanwhile, scratch.file('new'), toHost);
  expect(writes).toEqual([]);
  expect(dump(scratch.file('new'))['deletion']).toEqual(before.rows['deletion']);
});
