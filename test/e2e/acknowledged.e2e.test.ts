import { expect, test } from 'vitest';
import { callDaemon } from '../../src/daemon/control/client.ts';
import { until } from '../support/until.ts';
import { dropcast } from './dropcast-process.ts';
import { startStation } from './station.ts';

/** Rows that one command changes. */
const many = 100;

const folders = [{ rules: [{ match: '*.mpg', channel: 'ch_main', publish: ['feed_news'] }] }];

test('what was acknowledged holds after kill -9: an ignored file, a pause, a feed to publish, and names as `ls` prints them', async () => {
  await using station = await startStation({ folders, settings: { uploads: { concurrency: 4, stall_timeout: '2s' } } });
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await dropcast([...args, '--config', station.scratch.config]);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };
  await station.drop('a\nb "c"\u202E.mkv');
  await station.drop('-d.mpg');
  await station.reaches('a\nb "c"\u202E.mkv', 'held');
  await station.reaches('-d.mpg', 'done');

  for (let n = 0; n < many; n += 1) await station.drop(`${n}.mkv`);
  await until('all are held', async () => (await station.status()).counts['held'] === many + 1);

  const before = station.host.publishes.length;
  await run('publish', 'feed_news');
  const tell = (path: string, body: object) =>
    callDaemon(station.scratch.file('state', 'dropcast.sock'), 'POST', path, body);
  await tell('/pause', { folders: [], until: null, by: 'anna' });
  // Of so many rows some are not on disk yet if the answer does not wait for them; a command line ends too late to see that.
  await tell('/ignore', { names: [], selection: { cause: 'no_rule' }, by: 'anna' });
  await station.daemon().kill('SIGKILL');
  await station.start();
  expect((await station.status()).counts).toMatchObject({ skipped: many + 1 });
  expect((await station.file('a\nb "c"\u202E.mkv'))?.state).toBe('skipped');
  expect((await station.status()).paused).toHaveLength(1);
  expect(station.host.publishes.length).toBe(before + 1);
  expect(await run('show', String.raw`a\nb "c"\u202e.mkv`)).toContain('skipped');
});
