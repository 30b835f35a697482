import { expect, test } from 'vitest';
import { dayTotals } from '../../src/status/notifications/daily.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import type { OpenedRows } from './opened-rows.ts';

/** What notifications may expect of any store of rows. */
export function newsContract(open: () => Promise<OpenedRows>): void {
  test('a message waits for its target over a restart, in order, with what was stored with it', async () => {
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
    const day = 86_400_000;
    const row = (host: string, at: number) => ({ host, at: at * day, line: { text: `day ${at}` } });
    await opened.rows.keepEvents([1, 2, 3].map((at) => row('ingest1', at)));
    await opened.rows.keepEvents([row('ingest2', 4)]);
    const ledger = await opened.reopened();
    const texts = async (host: string, now: number, limit = 10) =>
      (await ledger.events({ host, since: (now - 30) * day, limit })).map(
        ({ line }) => (line as { text: string }).text,
      );
    expect(await texts('ingest1', 5)).toEqual(['day 1', 'day 2', 'day 3']);
    expect(await texts('ingest1', 5, 2)).toEqual(['day 2', 'day 3']);
    expect(await texts('ingest1', 33)).toEqual(['day 3']);
    // A clock that is set forward makes all lines old, for a moment.
    await ledger.keepEvents([row('ingest2', 33)]);
    expect(await texts('ingest1', 5)).toEqual(['day 1', 'day 2', 'day 3']);
    await ledger.keepEvents(Array.from({ length: 1_000 }, () => row('ingest2', 33)));
    expect(await texts('ingest1', 5)).toEqual(['day 3']);
  });

  test('what an event reports is written with the event, or not at all', async () => {
    await using opened = await open();
    const { rows } = opened;
    const pause = { folder: '/inbox', since: 5, until: null, by: 'anna' };
    const event = (at: number, line: string) => ({ host: 'here', at, line });
    const refused = event(0.5, 'no number of milliseconds');
    await rows.noteFeedDue('feed_news', 5, false);
    await expect(rows.savePause(pause, refused)).rejects.toThrow();
    expect(await rows.pauses()).toEqual([]);
    await rows.savePause(pause, event(1, 'set'));
    await expect(rows.dropPause('/inbox', refused)).rejects.toThrow();
    await expect(rows.noteFeedAnswer({ feed: 'feed_news', lastAt: 5 }, refused)).rejects.toThrow();
    expect([await rows.pauses(), (await rows.feedsDue()).length]).toEqual([[pause], 1]);
    await rows.dropPause('/inbox', event(2, 'over'));
    await rows.noteFeedAnswer({ feed: 'feed_news', lastAt: 5 }, event(3, 'published'));
    expect([await rows.pauses(), await rows.feedsDue()]).toEqual([[], []]);
    const lines = (await rows.events({ host: 'here', since: 0, limit: 10 })).map(({ line }) => line);
    expect(lines).toEqual(['set', 'over', 'published']);
  });

  test('lines of a host are read in pages, also those of the same millisecond and those before which the clock was set back', async () => {
    await using opened = await open();
    const { rows: ledger } = opened;
    await ledger.keepEvents([5, 7, 7, 3, 8].map((at, n) => ({ host: 'here', at, line: n })));
    await ledger.keepEvents([{ host: 'there', at: 9, line: 9 }]);
    const read: unknown[] = [];
    let after = 0;
    for (;;) {
      const page = await ledger.events({ host: 'here', after, since: 4, limit: 1 });
      const [first] = page;
      if (first === undefined) break;
      read.push(first.line);
      after = first.seq;
    }
    expect(read).toEqual([0, 1, 2, 4]);
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
    const held = someFacts({ id: 'f_1', discoveredAt: 5, end: 'held', why: 'no rule', endedAt: 6 });
    await ledger.insert(held);
    const first = await ledger.lastPassage();
    await ledger.insert(someFacts({ id: 'f_2', path: 'b.mp4', discoveredAt: 8 }));
    const [row] = await ledger.find('f_1');
    await ledger.save({ ...(row ?? held), end: 'done', why: null, endedAt: 9 });
    expect(await ledger.passages(0, ['held', 'done'], 10)).toMatchObject([
      { id: 'f_1', state: 'held' },
      { id: 'f_1', state: 'done' },
    ]);
    expect(await ledger.passages(first, ['held', 'done'], 10)).toMatchObject([{ id: 'f_1', state: 'done' }]);
    const [last] = await ledger.passages(first, ['done'], 10);
    const within = { since: last?.at ?? 0, until: last?.seq ?? 0 };
    expect(await ledger.passages(0, ['done'], 10, within)).toMatchObject([{ id: 'f_1' }]);
    expect(await ledger.passages(0, ['done'], 10, { ...within, until: within.until - 1 })).toEqual([]);
    expect(await ledger.passages(0, ['done'], 10, { ...within, since: within.since + 1 })).toEqual([]);
    const states = ['held', 'done'];
    expect([...(await ledger.lastStates(['f_1', 'f_2'], states, first))]).toEqual([
      ['f_1', { seq: first, state: 'held' }],
    ]);
    expect((await ledger.lastStates(['f_1'], states, first + 9)).get('f_1')).toMatchObject({ state: 'done' });
    expect((await ledger.lastStates(['f_1'], states, first - 1)).size).toBe(0);
    expect((await ledger.rows({ group: 'any', where: { ids: ['f_2'] } })).map(({ path }) => path)).toEqual(['b.mp4']);
    expect(await dayTotals(ledger, 5, 10)).toEqual({ came: 2, live: 1, bytes: held.version.size });
    expect(await dayTotals(ledger, 6, 9)).toEqual({ came: 1, live: 0, bytes: 0 });
  });

  test('a file counts for an expectation also after it was moved, until it is forgotten', async () => {
    await using opened = await open();
    const { rows: ledger } = opened;
    await ledger.insert(someFacts({ id: 'f_1', discoveredAt: 5 }));
    await ledger.countFile('evening', 'f_1', 5);
    await ledger.countFile('evening', 'f_1', 6);
    expect(await ledger.countedFiles('evening', 5)).toEqual(['f_1']);
    expect(await ledger.countedFiles('evening', 6)).toEqual([]);
    expect((await ledger.rows({ group: 'came in', folder: someFacts().folder, since: 5 })).map(({ id }) => id)).toEqual(
      ['f_1'],
    );
    await ledger.countFile('evening', 'f_2', 20);
    // A clock that is set forward makes nothing old.
    await ledger.forgetCounted(1_000, 20);
    expect(await ledger.countedFiles('evening', 0)).toEqual(['f_1', 'f_2']);
    await ledger.forgetCounted(1_000, 10);
    expect(await ledger.countedFiles('evening', 0)).toEqual(['f_2']);
  });
}
