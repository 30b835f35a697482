import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { foundOf } from '../../src/view/files/show-view.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { loadedConfig } from '../support/configuration.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { answer } from '../e2e/answers.ts';
import { startServer } from '../support/server.ts';

test('where a feed is read is known after a restart, with the service away and with the daemon down', async () => {
  const url = 'https://feeds.example.com/news.xml';
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  const start = async (origin: string) =>
    startDaemon(await loadedConfig(scratch, { service: { base_url: `${origin}/v1` } }), silentLogger);
  const show = async (daemon: Awaited<ReturnType<typeof start>>) =>
    (await foundOf(daemon.ledger, daemon, 'f_1')).found[0]?.file.feed_urls;
  {
    await using service = await startServer((request, response) => {
      answer(response, 200, {
        data: request.url?.includes('feeds') ? [{ id: 'feed_news', url }] : [{ id: 'ch_main' }],
      });
    });
    await using daemon = await start(service.origin);
    await daemon.ledger.insert(someFacts({ id: 'f_1', end: 'done' }));
    expect(await show(daemon)).toEqual({ feed_news: url });
  }
  {
    await using daemon = await start('http://127.0.0.1:9');
    expect(await show(daemon)).toEqual({ feed_news: url });
  }
  await using ledger = await openLedger(scratch.file('state'));
  expect((await foundOf(ledger, null, 'f_1')).found[0]?.file.feed_urls).toEqual({ feed_news: url });
});
