import { expect, test } from 'vitest';
import { someFacts } from '../pipeline/some-facts.ts';
import type { OpenedRows } from './opened-rows.ts';

/** What notifications may expect of any store of rows. */
export function newsContract(open: () => Promise<OpenedRows>): void {
  test('a message waits for its target over a restart, in order, with what was remembered beside it', async () => {
    await using opened = await open();
    await opened.rows.news.commit({
      remember: { cursor: { seq: 7 } },
      post: [
        { target: 'office', message: { title: 'one' }, at: 1 },
        { target: 'office', message: { title: 'two' }, at: 2 },
        { target: 'phone', message: { title: 'three' }, at: 3 },
      ],
    });
    const { news } = await opened.reopened();
    expect(await news.recall('cursor')).toEqual({ seq: 7 });
    expect(await news.countWaiting()).toEqual(
      new Map([
        ['office', 2],
        ['phone', 1],
      ]),
    );
    const rows = await news.waiting('office', 10);
    expect(rows.map(({ message, triedAt, refusals }) => [message, triedAt, refusals])).toEqual([
      [{ title: 'one' }, null, 0],
      [{ title: 'two' }, null, 0],
    ]);
    const seqs = rows.map(({ seq }) => seq);
    await news.markTried(seqs, 9);
    await news.markRefused(seqs.slice(1));
    expect((await news.waiting('office', 10)).map(({ triedAt, refusals }) => [triedAt, refusals])).toEqual([
      [9, 0],
      [null, 1],
    ]);
    await news.commit({ remove: seqs });
    expect(await news.waiting('office', 10)).toEqual([]);
    await news.commit({ remember: { cursor: null } });
    expect(await news.recall('cursor')).toBe(null);
  });

  test('lines about a host survive a restart, oldest first, until they are too old and a thousand others came', async () => {
    await using opened = await open();
    const keep = (host: string, at: number, since = 0) =>
      opened.rows.news.keepEvent({ host, at, line: { text: `at ${at}` } }, since);
    for (const at of [1, 2, 3]) await keep('ingest1', at);
    await keep('ingest2', 4);
    const { news } = await opened.reopened();
    const texts = (at: readonly number[]) => at.map((n) => ({ text: `at ${n}` }));
    expect(await news.events('ingest1', 0, 10)).toEqual(texts([1, 2, 3]));
    expect(await news.events('ingest1', 0, 2)).toEqual(texts([2, 3]));
    expect(await news.events('ingest1', 3, 10)).toEqual(texts([3]));
    // A clock that is set forward makes all lines old, for a moment.
    await news.keepEvent({ host: 'ingest2', at: 5, line: { text: 'at 5' } }, 3);
    expect(await news.events('ingest1', 0, 10)).toEqual(texts([1, 2, 3]));
    expect(await news.events('ingest2', 0, 10)).toEqual(texts([4, 5]));
    for (let n = 0; n < 1_000; n += 1) await news.keepEvent({ host: 'ingest2', at: 6, line: { text: 'at 6' } }, 3);
    expect(await news.events('ingest1', 0, 10)).toEqual(texts([3]));
  });

  test('an outbox keeps the newest messages that are not too old, and says how many it dropped', async () => {
    await using opened = await open();
    const { news } = opened.rows;
    const post = Array.from({ length: 10 }, (_, n) => ({ target: 'office', message: n, at: n }));
    await news.commit({ post: [...post, { target: 'phone', message: 'other', at: 0 }] });
    expect(await news.trim('office', { newest: 4, since: 0, countIn: 'dropped' })).toBe(6);
    expect(await news.trim('office', { newest: 4, since: 8, countIn: 'dropped' })).toBe(2);
    expect(await news.trim('office', { newest: 4, since: 8, countIn: 'dropped' })).toBe(0);
    expect(await news.recall('dropped')).toBe(8);
    expect((await news.waiting('office', 10)).map(({ message }) => message)).toEqual([8, 9]);
    expect((await news.waiting('phone', 10)).map(({ message }) => message)).toEqual(['other']);
  });

  test('what happened since a line of the history is found, and what a day came to', async () => {
    await using opened = await open();
    const { rows: ledger } = opened;
    const { news } = ledger;
    const held = someFacts({ id: 'f_1', discoveredAt: 5, end: 'held', why: 'no rule', endedAt: 6 });
    await ledger.insert(held);
    const first = await news.lastPassage();
    await ledger.insert(someFacts({ id: 'f_2', path: 'b.mp4', discoveredAt: 8 }));
    const [row] = await ledger.find('f_1');
    await ledger.save({ ...(row ?? held), end: 'done', why: null, endedAt: 9 });
    expect(await news.passages(0, ['held', 'done'], 10)).toMatchObject([
      { id: 'f_1', state: 'held' },
      { id: 'f_1', state: 'done' },
    ]);
    expect(await news.passages(first, ['held', 'done'], 10)).toMatchObject([{ id: 'f_1', state: 'done' }]);
    const states = ['held', 'done'];
    expect([...(await news.lastStates(['f_1', 'f_2'], states, first))]).toEqual([
      ['f_1', { seq: first, state: 'held' }],
    ]);
    expect((await news.lastStates(['f_1'], states, first + 9)).get('f_1')).toMatchObject({ state: 'done' });
    expect((await news.lastStates(['f_1'], states, first - 1)).size).toBe(0);
    expect((await news.filesById(['f_2'])).map(({ path }) => path)).toEqual(['b.mp4']);
    expect(await news.totals(5, 10)).toEqual({ came: 2, live: 1, bytes: held.version.size });
    expect(await news.totals(6, 9)).toEqual({ came: 1, live: 0, bytes: 0 });
  });

  test('a file counts for an expectation also after it was moved, until it is forgotten', async () => {
    await using opened = await open();
    const { rows: ledger } = opened;
    const { news } = ledger;
    await ledger.insert(someFacts({ id: 'f_1', discoveredAt: 5 }));
    await news.countFile('evening', 'f_1', 5);
    await news.countFile('evening', 'f_1', 6);
    expect(await news.countedFiles('evening', 5)).toEqual(['f_1']);
    expect(await news.countedFiles('evening', 6)).toEqual([]);
    expect((await news.cameIn(someFacts().folder, 5)).map(({ id }) => id)).toEqual(['f_1']);
    await news.countFile('evening', 'f_2', 20);
    // A clock that is set forward makes nothing old.
    await news.forgetCounted(1_000, 20);
    expect(await news.countedFiles('evening', 0)).toEqual(['f_1', 'f_2']);
    await news.forgetCounted(1_000, 10);
    expect(await news.countedFiles('evening', 0)).toEqual(['f_2']);
  });
}
