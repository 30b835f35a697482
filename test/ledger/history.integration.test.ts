import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { fresh } from '../../src/pipeline/file/reasons.ts';
import { created, failure, someFacts, uploaded } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const refusal = failure('transient', { code: 'http_503', status: 503, message: 'the service is busy' });

async function failures(ledger: Ledger) {
  return (await ledger.history('f_1')).map(({ state, failure }) => [state, failure]);
}

test('the history of a file keeps class, code and HTTP status of every failed attempt, also when the next one fails alike', async () => {
  await using scratch = await scratchDirectory();
  {
    await using ledger = await openLedger(scratch.path);
    await ledger.insert(someFacts());
    let facts = someFacts();
    for (let n = 1; n <= 2; n += 1) {
      facts = await ledger.save(
        { ...facts, ...fresh, attempts: n, notBefore: 9, lastFailure: refusal, why: refusal.message },
        refusal.message,
      );
      facts = await ledger.save({ ...facts, notBefore: null });
    }
    facts = await ledger.save({ ...facts, ...created, ...fresh });
    await ledger.save({ ...facts, ...uploaded });
  }
  await using again = await openLedger(scratch.path);
  const told = { kind: 'transient', code: 'http_503', status: 503 };
  expect(await failures(again)).toEqual([
    ['queued', null],
    ['retrying', told],
    ['queued', null],
    ['retrying', told],
    ['queued', null],
    ['awaiting upload', null],
    ['processing', null],
  ]);
});

test('what a flipped bit made of a failure in the history hides nothing else of it', async () => {
  await using scratch = await scratchDirectory();
  await (await openLedgerWith(scratch.path))[Symbol.asyncDispose]();
  {
    using database = new DatabaseSync(scratch.file('ledger.db'));
    database.exec(`UPDATE history SET failure = '{"kind' WHERE state = 'failed'`);
  }
  await using ledger = await openLedger(scratch.path);
  expect(await failures(ledger)).toEqual([
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
