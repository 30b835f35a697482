import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { until } from '../support/until.ts';
import { dropcast } from './dropcast-process.ts';
import { expectUploadedOnce, isCreate, refusal, startStation } from './station.ts';

const titles = Array.from({ length: 20 }, (_, n) => `f${n}`);

/** No events: what goes away is found out by whoever misses it. */
const polled = { watch: 'polling' as const, rescan: '1s' };
const folders = [polled];

test('files wait while their folder is missing, and continue when it is back', async () => {
  await using station = await startStation({
    settings: { uploads: { concurrency: 1, stall_timeout: '20s' } },
    folders,
    isStarted: false,
  });
  const uploadsGoOn = Promise.withResolvers<void>();
  let isBeingSent = false;
  station.faults.upload = async (request) => {
    // dropcast looks for the file a last time before its last bytes, and these are the first as well.
    if (request.readableLength === 0) await once(request, 'readable');
    isBeingSent = true;
    await uploadsGoOn.promise;
    return false;
  };
  const counts = async (): Promise<Readonly<Record<string, number>>> => (await station.status()).counts;
  const inbox = station.scratch.file('inbox');
  const away = station.scratch.file('away');

  for (const title of titles) await station.drop(`${title}.mpg`);
  await station.start();
  await until('all have come in', async () => (await station.files()).files.length === titles.length);
  await until('one is being sent', () => isBeingSent);

  await rename(inbox, away);
  uploadsGoOn.resolve();
  // The others are looked for, one after the other.
  await until('all others wait', async () => (await counts())['retrying'] === titles.length - 1);
  const [folder] = (await station.status()).folders;
  expect(folder).toMatchObject({ state: 'frozen', why: expect.stringContaining('not exist') });
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

test('what a broken sidecar holds stays held while the folder is missing, and when it is back', async () => {
  await using station = await startStation({ folders });
  await station.drop('clip.json', '{');
  await station.drop('clip.mpg');
  expect((await station.reaches('clip.mpg', 'held')).why).toContain('sidecar "clip.json"');
  const inbox = station.scratch.file('inbox');
  const away = station.scratch.file('away');
  await rename(inbox, away);
  const folder = async () => (await station.status()).folders[0];
  await until('it is missed', async () => (await folder())?.state === 'frozen');
  // Held files are looked at again as often as the folder is: a moment in which nothing is to happen.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect((await station.file('clip.mpg'))?.state).toBe('held');
  await rename(away, inbox);
  await until('it is back', async () => (await folder())?.state === 'watching');
  await station.drop('after.mpg');
  await station.reaches('after.mpg', 'done');
  expect((await station.file('clip.mpg'))?.state).toBe('held');
  expect(station.videos('clip')).toEqual([]);
  await station.drop('clip.json', '{ "title": "Mended" }');
  await station.reaches('clip.mpg', 'done');
  expectUploadedOnce(station, 'Mended');
});

test('a file that leaves and comes back is judged again, by the rules and its sidecar', async () => {
  await using station = await startStation({
    folders: [{ ...polled, rules: [{ match: '{in,out}/**', channel: 'ch_main' }] }],
  });
  await station.drop('elsewhere/free.mpg');
  await station.drop('in/sidecar.json', '{');
  await station.drop('in/sidecar.mpg');
  const names = ['elsewhere/free.mpg', 'in/sidecar.mpg'];
  const why = ['no rule', 'sidecar "sidecar.json"'];
  const away = station.scratch.file('away');
  await mkdir(away);
  for (const round of [1, 2]) {
    for (const [index, name] of names.entries())
      expect((await station.reaches(name, 'held')).why, `${name}, round ${round}`).toContain(why[index]);
    for (const name of names) await rename(station.scratch.file('inbox', name), join(away, basename(name)));
    for (const name of names) await station.reaches(name, 'vanished');
    for (const name of names) await rename(join(away, basename(name)), station.scratch.file('inbox', name));
  }
  for (const name of names) await station.reaches(name, 'held');
  expect(station.host.puts).toEqual([]);
  await station.drop('in/sidecar.json', '{ "title": "Mended" }');
  await station.reaches('in/sidecar.mpg', 'done');
  expectUploadedOnce(station, 'Mended');
});

test(
  'a share whose server is gone, so that every call on it hangs, keeps no other folder waiting',
  needs('mount', 'bindfs'),
  async () => {
    await using station = await startStation({
      isStarted: false,
      folders: [{ rescan: '2s' }, { path: 'share', rescan: '2s' }],
    });
    const share = station.scratch.file('share');
    const behind = station.scratch.file('behind');
    for (const path of [share, behind]) await mkdir(path);
    // Nothing is answered from memory.
    const server = spawn('bindfs', ['-f', '-o', 'attr_timeout=0,entry_timeout=0', behind, share], { stdio: 'ignore' });
    try {
      await until('it is mounted', async () => (await stat(share)).dev !== (await stat(behind)).dev);
      await station.start();
      await until('both are watched', async () =>
        (await station.status()).folders.every(({ state }) => state === 'watching'),
      );
      for (const title of titles) await writeFile(join(share, `${title}.mpg`), title);
      await until('they are seen', async () => (await station.status()).folders[1]?.paths.seen === titles.length);
      server.kill('SIGSTOP');
      // A look at each is due.
      await station.drop('one.mpg');
      await station.reaches('one.mpg', 'done');
      await station.drop('two.mpg');
      await station.reaches('two.mpg', 'done');
    } finally {
      server.kill('SIGKILL');
      spawnSync('umount', ['-l', share]);
    }
  },
);

test('once ends and says why when all that is left waits for a folder that is frozen', async () => {
  await using station = await startStation({ folders });
  const { scratch, faults } = station;
  faults.api = (request, response) => isCreate(request) && refusal(response, 503, 'unavailable');
  const some = titles.slice(0, 12);
  // At once: after some minutes of refusals nothing would be created for an hour, and once would say that.
  await Promise.all(some.map((title) => station.drop(`${title}.mpg`)));
  await until('all have come in', async () => (await station.files()).files.length === some.length);
  await station.daemon().kill('SIGKILL');
  faults.api = null;
  const inbox = scratch.file('inbox');
  // What lies under a mount point.
  await rename(inbox, scratch.file('away'));
  await mkdir(inbox);
  expect(await dropcast(['once', '--config', scratch.config])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${inbox} waits: `),
  });
});
