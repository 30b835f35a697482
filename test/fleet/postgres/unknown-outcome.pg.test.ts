import { expect, test } from 'vitest';
import type { PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../../src/pipeline/file/store-errors.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import type { Rows } from '../../ledger/opened-rows.ts';
import { openAlone, openHost } from './sharing-host.ts';

interface Loss {
  isOn: boolean;
  /** Whether the server is still the one that was asked to commit. */
  isSameServer: boolean;
}

/** The answer to a COMMIT is lost. */
function losing(pool: PostgresPool, loss: Loss): PostgresPool {
  return {
    listen: (...asked) => pool.listen(...asked),
    awaySince: () => pool.awaySince(),
    whyAway: () => pool.whyAway(),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
    rows: async (text, ...asked) => {
      const rows = await pool.rows(text, ...asked);
      return loss.isOn && !loss.isSameServer && text.includes('AS now')
        ? rows.map((row) => ({ ...row, now: 'another' }) as never)
        : (rows as never);
    },
    transaction: async (work, kind) => {
      const result = await pool.transaction(work, kind);
      if (loss.isOn && kind !== 'read') throw new OutcomeUnknownError({ cause: new LedgerUnavailableError('away') });
      return result;
    },
  };
}

const lastly = { newest: 1, since: 0 };

const writes: Readonly<Record<string, (rows: Rows) => Promise<unknown>>> = {
  'a new file': ({ insert }) => insert(someFacts({ id: 'new', path: 'new.mp4' })),
  'a row': async ({ save, load }) => {
    const facts = (await load('f_1')) ?? someFacts();
    return save({ ...facts, attempts: facts.attempts + 1 }, 'again');
  },
  'messages and what is remembered of them': ({ news }) =>
    news.commit({ remember: { cursor: 1 }, post: [{ target: 'x', message: 'late', at: 2 }] }),
  'a refusal': ({ news }) => news.markRefused([1]),
  'messages that are dropped': ({ news }) => news.trim('x', lastly),
};

const left = `select (select count(*) from dropcast.file) as files, (select sum(rev) from dropcast.file) as revisions,
  (select count(*) from dropcast.history) as lines, (select count(*) from dropcast.outbox) as posts,
  (select sum(refusals) from dropcast.outbox) as refusals, (select string_agg(record, ' ') from dropcast.news_memory) as memory`;

test.each(Object.entries(writes))(
  'when the answer to the COMMIT is lost, the server is asked for the result: %s is done once, and no caller notices',
  async (_name, write) => {
    const loss: Loss = { isOn: false, isSameServer: true };
    await using plain = await openAlone();
    await using lossy = await openAlone();
    await using opened = await openHost(lossy.url, { hostName: 'two' }, (pool) => losing(pool, loss));
    for (const { store } of [plain, lossy]) {
      await store.insert(someFacts());
      await store.news.commit({ post: [1, 2, 3].map((n) => ({ target: 'x', message: n, at: n })) });
    }
    const expected = await write(plain.store);
    loss.isOn = true;
    expect(await write(opened.store)).toEqual(expected);
    expect(await lossy.pool.rows(left)).toEqual(await plain.pool.rows(left));
  },
);

test('when another server answers, the result is unknown: its transactions have the same numbers', async () => {
  const loss: Loss = { isOn: false, isSameServer: false };
  await using lossy = await openAlone();
  await using opened = await openHost(lossy.url, { hostName: 'two' }, (pool) => losing(pool, loss));
  loss.isOn = true;
  await expect(opened.store.insert(someFacts())).rejects.toThrow(OutcomeUnknownError);
});
