import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { alongside } from './alongside.ts';
import { dropcast } from './dropcast-process.ts';
import type { Ended } from './dropcast-process.ts';
import { startStation } from './station.ts';
import type { Station } from './station.ts';

const since = ['one.mpg', 'two.mpg', 'three.mpg', 'news/four.mpg', 'five.mpg'];

const run = ({ scratch }: Station, ...args: readonly string[]): Promise<Ended> =>
  dropcast([...args, '--config', scratch.config]);

/** Runs while the daemon is stopped, and leaves it stopped. */
async function stopped(station: Station): Promise<void> {
  await station.daemon().kill('SIGTERM');
}

/** Takes a copy of the whole state directory, uploads five files, and puts the copy back: as a restored snapshot of the machine. */
async function restoreOlderState(station: Station): Promise<void> {
  const { scratch } = station;
  await stopped(station);
  await cp(scratch.file('state'), scratch.file('copy'), { recursive: true });
  await station.start();
  for (const path of since) await station.drop(path);
  for (const path of since) await station.reaches(path, 'done');
  await stopped(station);
  await rm(scratch.file('state'), { recursive: true });
  await cp(scratch.file('copy'), scratch.file('state'), { recursive: true, preserveTimestamps: true });
}

async function frozenBecause(station: Station): Promise<string> {
  const inbox = async () => (await station.status()).folders.find(({ path }) => path.endsWith('/inbox'));
  await until('the folder is frozen', async () => (await inbox())?.state === 'frozen');
  return (await inbox())?.why ?? '';
}

const bodies = (station: Station): number => station.host.puts.length;

alongside('a state directory that was restored from an older copy', () => {
  test('uploads nothing and says so; `adopt` records what lies in the folder, and later files are uploaded', async () => {
    await using station = await startStation();
    const inbox = station.scratch.file('inbox');
    await station.drop('before.mpg');
    await station.reaches('before.mpg', 'done');
    await restoreOlderState(station);
    const sent = bodies(station);
    await station.start();
    const why = await frozenBecause(station);
    expect(why).toContain('the state directory is older than this folder; was it restored from a backup?');
    expect(why).toContain(`dropcast adopt '${inbox}'`);
    expect(why).toContain(`dropcast resume '${inbox}'`);
    await station.drop('while-frozen.mpg');
    expect((await run(station, 'status')).code).toBe(1);
    expect((await run(station, 'doctor')).stdout).toContain(`dropcast adopt '${inbox}'`);
    expect((await run(station, 'explain', `${inbox}/one.mpg`)).stdout).toContain('is older than this folder');
    expect((await run(station, 'events', '-n', '50')).stdout).toContain('is older than this folder');
    expect(bodies(station)).toBe(sent);

    const adopted = await run(station, 'adopt', inbox);
    expect(adopted).toMatchObject({ code: 0, stderr: '' });
    for (const path of [...since, 'while-frozen.mpg']) {
      const { why: reason } = await station.reaches(path, 'skipped');
      expect(reason).toContain('recorded as uploaded by `dropcast adopt`');
    }
    await station.drop('later.mpg');
    await station.reaches('later.mpg', 'done');
    expect(bodies(station)).toBe(sent + 1);
    expect((await run(station, 'adopt', inbox)).code).toBe(1);
    // The answer lasts.
    await stopped(station);
    await station.start();
    await station.drop('after-restart.mpg');
    await station.reaches('after-restart.mpg', 'done');
    expect(bodies(station)).toBe(sent + 2);
    await station.retry('while-frozen.mpg');
    await station.reaches('while-frozen.mpg', 'done');
    expect(bodies(station)).toBe(sent + 3);
  });

  test('`resume` uploads what the ledger does not know', async () => {
    await using station = await startStation();
    await station.drop('before.mpg');
    await station.reaches('before.mpg', 'done');
    await restoreOlderState(station);
    const sent = bodies(station);
    await station.start();
    await frozenBecause(station);
    expect((await run(station, 'resume', station.scratch.file('inbox'))).code).toBe(0);
    for (const path of since) await station.reaches(path, 'done');
    expect(bodies(station)).toBe(sent + since.length);
    await stopped(station);
    await station.start();
    await station.drop('later.mpg');
    await station.reaches('later.mpg', 'done');
    expect(bodies(station)).toBe(sent + since.length + 1);
  });

  test('a file that waited in the copy and was uploaded since counts as uploaded after `adopt`, also without a daemon', async () => {
    await using station = await startStation();
    const inbox = station.scratch.file('inbox');
    await run(station, 'pause', '--all');
    await station.drop('waiting.mpg');
    await station.reaches('waiting.mpg', 'queued');
    await stopped(station);
    await cp(station.scratch.file('state'), station.scratch.file('copy'), { recursive: true });
    await station.start();
    await run(station, 'resume', '--all');
    await station.reaches('waiting.mpg', 'done');
    await stopped(station);
    await rm(station.scratch.file('state'), { recursive: true });
    await cp(station.scratch.file('copy'), station.scratch.file('state'), { recursive: true });
    const sent = bodies(station);
    await writeFile(`${inbox}/while-stopped.mpg`, 'bytes');
    expect((await run(station, 'adopt', inbox)).code).toBe(0);
    await station.start();
    await run(station, 'resume', '--all');
    await station.reaches('waiting.mpg', 'skipped');
    await station.reaches('while-stopped.mpg', 'skipped');
    await station.drop('later.mpg');
    await station.reaches('later.mpg', 'done');
    expect(bodies(station)).toBe(sent + 1);
  });

  test('each folder waits for its own answer, however far files of other folders advance the ledger', async () => {
    await using station = await startStation({
      folders: ['inbox', 'second', 'third'].map((path) => ({ path, rescan: '2s' })),
      isStarted: false,
    });
    const { file } = station.scratch;
    await mkdir(file('second'));
    await mkdir(file('third'));
    const states = async () =>
      Object.fromEntries((await station.status()).folders.map(({ path, state }) => [basename(path), state]));
    await station.start();
    await stopped(station);
    await cp(file('state'), file('copy'), { recursive: true });
    // Each stop writes the marks: that of the first folder gets far ahead of that of the second.
    for (const path of [file('second/one.mpg'), 'one.mpg', 'two.mpg', 'three.mpg']) {
      await station.start();
      await station.drop(path);
      await station.reaches(path, 'done');
      await stopped(station);
    }
    await rm(file('state'), { recursive: true });
    await cp(file('copy'), file('state'), { recursive: true });
    const sent = bodies(station);
    expect((await run(station, 'adopt', file('inbox'))).code).toBe(0);
    await station.start();
    await station.reaches('one.mpg', 'skipped');
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) {
      await station.drop(file('third', `${name}.mpg`));
      await station.reaches(file('third', `${name}.mpg`), 'done');
      expect(await states()).toMatchObject({ inbox: 'watching', second: 'frozen', third: 'watching' });
      await stopped(station);
      await station.start();
    }
    await until('it is scanned', async () => (await states())['third'] === 'watching');
    expect(await states()).toMatchObject({ second: 'frozen' });
    expect(bodies(station)).toBe(sent + 6);
    expect((await run(station, 'resume', file('second'))).code).toBe(0);
    await station.reaches(file('second/one.mpg'), 'done');
    expect(bodies(station)).toBe(sent + 7);
  });

  test('`resume` without a daemon is an answer for the next start, and a folder that is not older has nothing to record', async () => {
    await using station = await startStation();
    const inbox = station.scratch.file('inbox');
    await restoreOlderState(station);
    const sent = bodies(station);
    expect((await run(station, 'resume', inbox)).code).toBe(0);
    await station.start();
    for (const path of since) await station.reaches(path, 'done');
    expect(bodies(station)).toBe(sent + since.length);
    await stopped(station);
    const refused = await run(station, 'adopt', inbox);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('there is nothing to record');
  });
});
