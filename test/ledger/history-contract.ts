import { expect, test } from 'vitest';
import { fresh } from '../../src/pipeline/file/reasons.ts';
import { created, failure, someFacts, uploaded } from '../pipeline/some-facts.ts';
import type { OpenedRows, Rows } from './opened-rows.ts';

export const refusal = failure('transient', { code: 'http_503', status: 503, message: 'the service is busy' });

export async function failuresIn(ledger: Pick<Rows, 'history'>) {
  return (await ledger.history('f_1')).map(({ state, failure }) => [state, failure]);
}

/** What is kept of the attempts of a file, in any store of rows. */
export function historyContract(open: () => Promise<OpenedRows>): void {
  test('the history of a file keeps class, code and HTTP status of every failed attempt, also when the next one fails alike', async () => {
    await using opened = await open();
    const { rows } = opened;
    await rows.insert(someFacts());
    let facts = someFacts();
    for (let n = 1; n <= 2; n += 1) {
      facts = await rows.save(
        { ...facts, ...fresh, attempts: n, notBefore: 9, lastFailure: refusal, why: refusal.message },
        refusal.message,
      );
      facts = await rows.save({ ...facts, notBefore: null });
    }
    facts = await rows.save({ ...facts, ...created, ...fresh });
    await rows.save({ ...facts, ...uploaded });
    const again = await opened.reopened();
    const told = { kind: 'transient', code: 'http_503', status: 503 };
    expect(await failuresIn(again)).toEqual([
      ['queued', null],
      ['retrying', told],
      ['queued', null],
      ['retrying', told],
      ['queued', null],
      ['awaiting upload', null],
      ['processing', null],
    ]);
  });
}
