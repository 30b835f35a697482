import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LedgerInUseError } from '../../src/ledger/ledger-error.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { openDatabase } from '../../src/ledger/sqlite/open-database.ts';
import { OtherProcess } from '../support/other-process.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const ledgerModule = JSON.stringify(new URL('../../src/ledger/ledger.ts', import.meta.url).href);
const factsModule = JSON.stringify(new URL('../pipeline/some-facts.ts', import.meta.url).href);

/** Once it is told to, inserts files and moves each on, several in each turn. Reports each write only after it has resolved. */
const writer = (stateDir: string, run: number): string => `
  import { writeSync } from 'node:fs';
  import { openLedger } from ${ledgerModule};
  import { created, someFacts, uploaded } from ${factsModule};
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const ledger = await openLedger(${JSON.stringify(stateDir)});
  const bringIn = async (id) => {
    await ledger.insert(someFacts({ id }));
    writeSync(1, id + ' 0\\n');
    let facts = await ledger.load(id);
    for (const step of [created, uploaded]) {
      facts = await ledger.save({ ...facts, ...step });
      writeSync(1, id + ' ' + facts.rev + '\\n');
    }
  };
  for (let n = 0; ; n += 1)
    await Promise.all(['a', 'b', 'c', 'd'].map((letter) => bringIn('f_${run}_' + n + letter)));
`;

/** Opens the ledger and keeps it. */
const holder = (stateDir: string): string => `
  import { openLedger } from ${ledgerModule};
  await openLedger(${JSON.stringify(stateDir)});
  process.stdout.write('open\\n');
  setInterval(() => {}, 1000);
`;

/** Opens the ledger for a moment, again and again, as commands do while no daemon runs. */
const reader = (stateDir: string): string => `
  import { openLedger } from ${ledgerModule};
  for (let n = 0; n < 10; n += 1) await (await openLedger(${JSON.stringify(stateDir)}))[Symbol.asyncDispose]();
  process.stdout.write('all read\\n');
`;

describe('a ledger of another process', () => {
  test('is refused while that process lives, and free once it is killed', async () => {
    await using scratch = await scratchDirectory();
    {
      await using other = new OtherProcess(holder(scratch.path));
      await other.hasWritten(1);
      await expect(openDatabase(join(scratch.path, 'ledger.db'), { timeoutMs: 0 })).rejects.toThrow(LedgerInUseError);
    }
    await using ledger = await openLedger(scratch.path);
    expect(await ledger.totals('by state')).toEqual({});
  });

  test('is awaited while others only read: many at once all get their turn', async () => {
    await using scratch = await scratchDirectory();
    await (await openLedger(scratch.path))[Symbol.asyncDispose]();
    await using stack = new AsyncDisposableStack();
    const readers = Array.from({ length: 8 }, () => stack.use(new OtherProcess(reader(scratch.path))));
    for (const one of readers) await one.hasEnded();
    expect(readers.map(({ text }) => text)).toEqual(readers.map(() => 'all read\n'));
  });
});

describe('kill -9', () => {
  const kills = 10;

  test(`${kills} times: nothing that was acknowledged is lost, and the ledger is sound`, async () => {
    await using scratch = await scratchDirectory();
    const acknowledged = new Map<string, number>();
    await using stack = new AsyncDisposableStack();
    const prepare = (run: number): OtherProcess => stack.use(new OtherProcess(writer(scratch.path, run)));
    let next = prepare(0);
    for (let run = 0; run < kills; run += 1) {
      const child = next;
      // Starts while this one writes.
      if (run + 1 < kills) next = prepare(run + 1);
      child.start();
      // It goes on writing: the signal arrives somewhere in the middle.
      await child.hasWritten(1 + 4 * run);
      await child[Symbol.asyncDispose]();
      for (const line of child.lines()) acknowledged.set(line.split(' ')[0] ?? '', Number(line.split(' ')[1]));
    }
    // Opening it checks its integrity.
    await using ledger = await openLedger(scratch.path);
    expect(acknowledged.size).toBeGreaterThan(kills);
    for (const [id, rev] of acknowledged) expect((await ledger.load(id))?.rev ?? -1).toBeGreaterThanOrEqual(rev);
    // Each write is there with its line of history, or not at all.
    for (const facts of await ledger.rows({ group: 'any', limit: 1_000_000 })) {
      const states = (await ledger.history(facts.id)).map(({ state }) => state);
      expect(states, facts.id).toEqual(['queued', 'awaiting upload', 'processing'].slice(0, facts.rev + 1));
    }
  });
});
