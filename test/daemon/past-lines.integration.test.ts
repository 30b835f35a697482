import { expect, test } from 'vitest';
import { createNewsLines } from '../../src/daemon/news/lines.ts';
import { pastLines, pastPage, shownHost, whyNoCursor } from '../../src/daemon/news/past-lines.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { created, someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const day = 86_400_000;

test('after a restart the events begin with those of earlier runs: files from their history, all others as they were kept', async () => {
  await using scratch = await scratchDirectory();
  const now = Date.now();
  {
    await using ledger = await openLedger(scratch.path);
    const line = { v: 1, seq: 7, level: 'error', type: 'paused', file: null, folder: null, path: null, state: null };
    for (const at of [now - 31 * day, now - 1_000, now + 1_000])
      await ledger.keepEvents([{ host: 'here', at, line: { ...line, at, text: `Paused at ${at}` } }]);
    await ledger.insert(someFacts({ id: 'f_1' }));
    const [row] = await ledger.find('f_1');
    await ledger.save({ ...someFacts(created), ...row, end: 'failed', endedAt: now }, 'the service refused it');
  }
  await using ledger = await openLedger(scratch.path);
  const past = await pastLines(ledger, { host: 'here', limit: 1_000, now });
  expect(past.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^Paused/),
    'Waiting for its turn: complete',
    'Failed: the service refused it',
    expect.stringMatching(/^Paused/),
  ]);
  expect(past.map(({ seq }) => seq)).toEqual([-3, -2, -1, 0]);
  expect(past[2]).toMatchObject({ level: 'error', file: 'f_1', state: 'failed' });
  expect(await pastLines(ledger, { host: 'another', limit: 1, now })).toMatchObject([{ file: 'f_1' }]);
  // A container has another host name after each restart.
  expect(
    await pastLines(ledger, { host: shownHost({ ledger: null, hostName: 'another' }), limit: 9, now }),
  ).toHaveLength(4);

  const news = createNewsLines({ now: () => now }, (error) => expect.fail(String(error)));
  news.precede(past);
  news.add({ level: 'info', type: 'started', text: 'Started' });
  expect(news.since(-Infinity).map(({ seq }) => seq)).toEqual([-3, -2, -1, 0, 1]);
  expect(news.since(0).map(({ text }) => text)).toEqual(['Started']);
});

test('all that is kept since a time is read in pages of any size: each line once, and each kind in its order', async () => {
  await using scratch = await scratchDirectory();
  await using ledger = await openLedger(scratch.path);
  const at = Date.now();
  const keep = (text: string, atMs: number) => {
    const line = {
      v: 1,
      at: atMs,
      level: 'info',
      type: 'feed',
      file: null,
      folder: null,
      path: null,
      state: null,
      text,
    };
    return ledger.keepEvents([{ host: 'here', at: atMs, line }]);
  };
  await keep('too old', at - 60_000);
  for (let n = 0; n < 7; n += 1) {
    await ledger.insert(someFacts({ id: `f_${n}`, path: `${n}.mp4` }));
    // The same millisecond, and a clock that is set back by a second now and then.
    await keep(`feed ${n}`, Date.now() - (n % 3 === 0 ? 1_000 : 0));
  }
  const of = { host: 'here', since: at - 30_000 };
  const read = async (limit: number) => {
    const lines: string[] = [];
    let after = '';
    for (;;) {
      const page = await pastPage(ledger, { ...of, after, limit });
      expect(whyNoCursor(page.next ?? '')).toBe(null);
      expect(page.lines.length).toBeLessThanOrEqual(limit);
      lines.push(...page.lines.map(({ text, path }) => path ?? text));
      if (page.next === null) return lines;
      // A line that comes in between is read last.
      if (after === '' && limit === 1) await keep('later', Date.now());
      after = page.next;
    }
  };
  const all = await read(500);
  const numbers = Array.from({ length: 7 }, (_, n) => n);
  expect(all.filter((each) => each.endsWith('.mp4'))).toEqual(numbers.map((n) => `${n}.mp4`));
  expect(all.filter((each) => !each.endsWith('.mp4'))).toEqual(numbers.map((n) => `feed ${n}`));
  for (const limit of [2, 3, 5, 14]) expect(await read(limit)).toEqual(all);
  expect(await read(1)).toEqual([...all, 'later']);
  for (const text of ['1-2-3', '-1-2', '1', `1-${'9'.repeat(16)}`]) expect(whyNoCursor(text)).toContain('not a cursor');
});
