import { expect, test } from 'vitest';
import { dropcast } from './dropcast-process.ts';
import { startStation } from './station.ts';

const folders = (path: string): string => `
  - path: ${path}/inbox
    settle: 100ms
    rules: [{ match: "*.mpg", channel: ch_main, publish: [feed_news] }]
`;

test('what was acknowledged holds after kill -9: an ignored file, a pause, a feed to publish, and names as `ls` prints them', async () => {
  await using station = await startStation({ folders, settings: 'uploads: { concurrency: 4, stall_timeout: 2s }' });
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await dropcast([...args, '--config', station.scratch.config]);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };
  await station.drop('a\nb "c"\u202E.mkv');
  await station.drop('-d.mpg');
  await station.reaches('a\nb "c"\u202E.mkv', 'held');
  await station.reaches('-d.mpg', 'done');

  const before = station.host.publishes.length;
  // All answers are out, and nothing else has been done since.
  await Promise.all([
    run('ignore', '--cause', 'no_rule'),
    run('pause', '--all', '--until', '23h'),
    run('publish', 'feed_news'),
  ]);
  await station.daemon().kill('SIGKILL');
  await station.start();
  expect((await station.file('a\nb "c"\u202E.mkv'))?.state).toBe('skipped');
  expect((await station.status()).paused).toHaveLength(1);
  expect(station.host.publishes.length).toBe(before + 1);
  expect(await run('show', String.raw`a\nb "c"\u202e.mkv`)).toContain('skipped');
});
