import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startStation } from '../../e2e/station.ts';
import { until } from '../../support/until.ts';

test('a daemon that is killed while it exports lists each video once', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `clip${n}.mpg`);
  await using station = await startStation({
    isStarted: false,
    settings: { exports: [{ to: 'links.ndjson' }] },
  });
  const lines = async () => {
    const text = await readFile(station.scratch.file('state', 'links.ndjson'), 'utf8').catch(() => '');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { readonly video_id: string });
  };
  for (const name of names) await station.drop(name);
  for (const least of [1, 4, 8]) {
    const { kill } = await station.start();
    await until(`${least} are listed`, async () => (await lines()).length >= least, { seen: lines });
    await kill('SIGKILL');
  }
  await station.start();
  const done = await Promise.all(names.map((name) => station.reaches(name, 'done')));
  await until('all are listed', async () => (await lines()).length >= names.length, { seen: lines });
  const listed = await lines();
  const ids = (videos: readonly { readonly video_id: string | null }[]) =>
    videos.map(({ video_id: id }) => id ?? '').toSorted((one, other) => one.localeCompare(other));
  expect(ids(listed)).toEqual(ids(done));
});
