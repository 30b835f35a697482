import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startStation } from '../../e2e/station.ts';
import { until } from '../../support/until.ts';

test('a daemon that is killed while it writes link files leaves one whole file for each video, where the video went', async () => {
  const names = Array.from({ length: 10 }, (_, n) => `clip${n}.mpg`);
  await using station = await startStation({
    isStarted: false,
    folders: [{ beside: true, after_ready: { move: 'done' }, rules: [{ match: '**', channel: 'ch_main' }] }],
  });
  const written = async () => {
    const found = await readdir(station.scratch.file('inbox', 'done')).catch(() => []);
    return found.filter((name) => name.endsWith('.dropcast.json')).toSorted();
  };
  for (const name of names) await station.drop(name);
  for (const least of [1, 3, 6]) {
    const { kill } = await station.start();
    await until(`${least} are written`, async () => (await written()).length >= least, { seen: written });
    await kill('SIGKILL');
  }
  await station.start();
  await until('all are written', async () => (await written()).length >= names.length, { seen: written });
  expect(await written()).toEqual(names.map((name) => `${name}.dropcast.json`));
  const { files } = await station.files();
  const listed = new Set(files.map(({ link_file: file }) => file));
  expect(listed).toEqual(new Set(names.map((name) => `done/${name}.dropcast.json`)));
  const hidden = (await readdir(station.scratch.file('inbox'), { recursive: true })).filter((name) =>
    name.includes('.link'),
  );
  expect(hidden).toEqual([]);
});
