import { expect, test } from 'vitest';
import { createNewsLines } from '../../src/daemon/news/lines.ts';
import { pastLines } from '../../src/daemon/news/past-lines.ts';
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
      await ledger.news.keepEvent({ host: 'here', at, line: { ...line, at, text: `Paused at ${at}` } }, 0);
    await ledger.insert(someFacts({ id: 'f_1' }));
    const [row] = await ledger.find('f_1');
    await ledger.save({ ...someFacts(created), ...row, end: 'failed', endedAt: now }, 'the service refused it');
  }
  await using ledger = await openLedger(scratch.path);
  const past = await pastLines(ledger.news, { host: 'here', limit: 1_000, now });
  expect(past.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^Paused/),
    'Waiting for its turn: complete',
    'Failed: the service refused it',
    expect.stringMatching(/^Paused/),
  ]);
  expect(past.map(({ seq }) => seq)).toEqual([-3, -2, -1, 0]);
  expect(past[2]).toMatchObject({ level: 'error', file: 'f_1', state: 'failed' });
  expect(await pastLines(ledger.news, { host: 'another', limit: 1, now })).toMatchObject([{ file: 'f_1' }]);

  const news = createNewsLines({ now: () => now }, (error) => expect.fail(String(error)));
  news.precede(past);
  news.add({ level: 'info', type: 'started', file: null, folder: null, path: null, state: null, text: 'Started' });
  expect(news.since(-Infinity).map(({ seq }) => seq)).toEqual([-3, -2, -1, 0, 1]);
  expect(news.since(0).map(({ text }) => text)).toEqual(['Started']);
});
