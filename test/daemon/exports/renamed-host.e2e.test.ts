import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startStation } from '../../e2e/station.ts';
import { until } from '../../support/until.ts';

test('a host that has another name at each start, as a container has, lists each video once', async () => {
  await using station = await startStation({
    settings: { host_name: 'first-name', exports: [{ to: 'links.ndjson' }] },
  });
  const lines = async () =>
    (await readFile(station.scratch.file('state', 'links.ndjson'), 'utf8').catch(() => '')).split('\n').slice(0, -1);
  await station.drop('one.mpg');
  await until('one is listed', async () => (await lines()).length === 1, { seen: lines });
  await station.daemon().kill('SIGTERM');
  const text = await readFile(station.scratch.config, 'utf8');
  await writeFile(station.scratch.config, text.replace('first-name', 'second-name'));
  await station.start();
  await station.drop('two.mpg');
  await station.reaches('two.mpg', 'done');
  await until('two is listed', async () => (await lines()).some((line) => line.includes('two.mpg')), { seen: lines });
  expect(await lines()).toHaveLength(2);
});
