import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { failuresIn, historyContract, refusal } from './history-contract.ts';
import { openInFile } from './opened-rows.ts';

historyContract(openInFile);

test('what a flipped bit made of a failure in the history hides nothing else of it', async () => {
  await using scratch = await scratchDirectory();
  await (await openLedgerWith(scratch.path))[Symbol.asyncDispose]();
  {
    using database = new DatabaseSync(scratch.file('ledger.db'));
    database.exec(`UPDATE history SET failure = '{"kind' WHERE state = 'failed'`);
  }
  await using ledger = await openLedger(scratch.path);
  expect(await failuresIn(ledger)).toEqual([
    ['queued', null],
    ['failed', null],
  ]);
});

async function openLedgerWith(path: string): Promise<Ledger> {
  const ledger = await openLedger(path);
  await ledger.insert(someFacts());
  await ledger.save({ ...someFacts(), end: 'failed', lastFailure: refusal }, 'no');
  return ledger;
}
