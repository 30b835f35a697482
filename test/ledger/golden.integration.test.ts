import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import { mismatches } from '../../src/ledger/sqlite/repair.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { decide } from '../../src/pipeline/file/machine.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { besideRows, statesOfRows } from './every-state.ts';

const golden = join(import.meta.dirname, 'golden');
const versions = (await readdir(golden)).filter((name) => /^\d+$/.test(name));

async function copyOf(version: string): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  await cp(join(golden, version), scratch.path, { recursive: true });
  return scratch;
}

async function expected(version: string): Promise<readonly Facts[]> {
  return JSON.parse(await readFile(join(golden, version, 'rows.json'), 'utf8')) as readonly Facts[];
}

test('there is a golden ledger of every version of the schema, the current one included', async () => {
  await using scratch = await scratchDirectory();
  await (await openLedger(scratch.path))[Symbol.asyncDispose]();
  using database = new DatabaseSync(scratch.file('ledger.db'));
  const current = Number(Object.values(database.prepare('PRAGMA user_version').get() ?? {})[0]);
  expect(versions.toSorted()).toEqual(Array.from({ length: current }, (_, n) => String(n + 1)));
});

describe.each(versions)('the ledger of schema %s', (version) => {
  test('opens with every row as it was, in every state', async () => {
    await using scratch = await copyOf(version);
    await using ledger = await openLedger(scratch.path);
    const rows = await ledger.rows({ group: 'any', limit: 100 });
    expect(rows).toMatchObject(await expected(version));
    expect(new Set(rows.map(stateOf))).toEqual(statesOfRows);
    expect(ledger.repairs).toEqual([]);
    expect(await ledger.budget.load()).toEqual([1]);
  });

  test('knows what it had besides its files', async () => {
    await using scratch = await copyOf(version);
    await using ledger = await openLedger(scratch.path);
    const { folder, root, firstStart, video, listing } = besideRows;
    expect(await ledger.roots.load(folder)).toEqual(root);
    expect(await ledger.firstStart(folder)).toEqual(firstStart);
    expect(await ledger.listing()).toEqual(listing);
    expect(await ledger.listed()).toEqual([video]);
    expect(await ledger.firstStart('/another')).toBeNull();
  });

  test('continues: every row can be written and read again, also after a restart', async () => {
    await using scratch = await copyOf(version);
    const moved: Facts[] = [];
    {
      await using ledger = await openLedger(scratch.path);
      for (const facts of await ledger.rows({ group: 'any', limit: 100 })) {
        const policy = { attempts: 3, retryAt: () => 1_000, now: () => 1_000 };
        const { facts: retried } = decide(stateOf(facts), { facts, policy }, { type: 'RETRY' });
        moved.push(await ledger.save({ ...facts, ...retried, attempts: facts.attempts + 1 }, 'tried'));
      }
      await ledger.insert(someFacts({ id: 'f_new', path: 'new.mp4' }));
    }
    await using ledger = await openLedger(scratch.path);
    expect(ledger.repairs).toEqual([]);
    expect(await ledger.rows({ group: 'any', limit: 100 })).toMatchObject([...moved, { id: 'f_new' }]);
    for (const { id } of moved) expect((await ledger.history(id)).at(-1)?.note).toBe('tried');
  });
});

test('a column that a later schema adds changes no checksum until it has a value', async () => {
  await using scratch = await copyOf('1');
  using database = new DatabaseSync(scratch.file('ledger.db'));
  database.exec('ALTER TABLE file ADD COLUMN failure TEXT');
  expect(mismatches(database)).toEqual([]);
  database.exec("UPDATE file SET failure = 'disk' WHERE seq = 1");
  expect(mismatches(database)).toEqual([1]);
});
