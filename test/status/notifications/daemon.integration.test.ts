import { mkdir, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { clockTime } from '../../../src/view/words/text.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import { createNotifications } from '../../../src/status/notifications/notifications.ts';
import { startVideoHost } from '../../e2e/video-host.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { loadedConfig } from '../../support/configuration.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const minute = 60_000;

test('an expected file is reported as missing, late and recovered by a real daemon, at the times of its clock', async () => {
  const told: string[] = [];
  await using hook = await startServer((request, response) => {
    void text(request).then((body) => {
      const { event, title } = JSON.parse(body) as { event: string; title: string };
      told.push(`${event}: ${title.replace(/^.*inbox/, '')}`);
      response.end();
    });
  });
  await using host = await startVideoHost({ processingMs: () => 86_400_000 });
  const noon = Date.UTC(2026, 10, 18, 12);
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  const config = await loadedConfig(scratch, {
    service: { base_url: host.baseUrl, api_key: host.key },
    notify: [{ type: 'webhook', url: hook.origin }],
    folders: [{ expect: [{ match: '*.mpg', by: '13:00', zone: 'UTC' }] }],
  });

  let ahead = noon - Date.now();
  const clock = { now: () => Date.now() + ahead, elapsed: () => performance.now() };
  await using daemon = await startDaemon(config, silentLogger, clock);
  await using notifications = createNotifications({ daemon, logger: silentLogger, now: clock.now, env: {} });
  const look = async (): Promise<void> => {
    await notifications.tick();
    await notifications.idle();
  };
  const pass = async (ms: number): Promise<void> => {
    ahead += ms;
    await look();
  };
  const stands = (state: string): Promise<unknown> =>
    until(`it is ${state}`, () => daemon.expectations.list()[0]?.state === state);

  await look();
  await stands('expected');
  await pass(61 * minute);
  expect(told).toEqual([`missing: /*.mpg is missing: expected by ${clockTime(noon + 60 * minute, noon)}`]);
  await writeFile(scratch.file('inbox/evening.mpg'), 'the film');
  await stands('late');
  await pass(2 * minute);
  const video = await until('it is uploaded', () =>
    [...host.videos.values()].find(({ status }) => status === 'processing'),
  );
  video.status = 'ready';
  await stands('recovered');
  await pass(minute / 2);
  await pass(2 * minute);
  expect(told.map((line) => line.split(':')[0])).toEqual(['missing', 'missing', 'recovered']);
  expect(told[1]).toContain('is late');
});
