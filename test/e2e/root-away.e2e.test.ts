import { rename } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { until } from './dropcast-process.ts';
import { expectUploadedOnce, startStation } from './station.ts';

const titles = Array.from({ length: 20 }, (_, n) => `f${n}`);

/** No events: what goes away is found out by whoever misses it. */
const folders = (path: string): string => `
  - path: ${path}/inbox
    settle: 300ms
    watch: polling
    rescan: 1s
    rules: [{ match: "**", channel: ch_main }]
`;

test('files wait while their folder is away, and go on by themselves when it is back', async () => {
  await using station = await startStation({
    settings: 'uploads: { concurrency: 1, stall_timeout: 20s }',
    folders,
    isStarted: false,
  });
  const uploadsGoOn = Promise.withResolvers<void>();
  station.faults.upload = async () => {
    await uploadsGoOn.promise;
    return false;
  };
  const counts = async (): Promise<Readonly<Record<string, number>>> => (await station.status()).counts;
  const inbox = station.scratch.file('inbox');
  const away = station.scratch.file('away');

  for (const title of titles) await station.drop(`${title}.mpg`);
  await station.start();
  await until('all have come in', async () => (await station.files()).files.length === titles.length);
  // The upload host has its request, so its file is open.
  await until('one is being sent', () => station.host.puts.length === 1);

  await rename(inbox, away);
  uploadsGoOn.resolve();
  // The one that was being sent is read to its end; the others are looked for, one after the other.
  await until('all others wait', async () => (await counts())['retrying'] === titles.length - 1);
  const [folder] = (await station.status()).folders;
  expect(folder).toMatchObject({ state: 'frozen', why: 'it does not exist' });
  expect((await counts())['vanished']).toBeUndefined();
  for (const line of await station.failures(
    titles.map((title) => `${title}.mpg`),
    titles.length - 1,
  )) {
    expect(line).toMatchObject({ class: 'suspended', code: 'folder_away', attempt: 0 });
  }

  await rename(away, inbox);
  await until('all are done', async () => (await counts())['done'] === titles.length);
  for (const title of titles) expectUploadedOnce(station, title);
});
