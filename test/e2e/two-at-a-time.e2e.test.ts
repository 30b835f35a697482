import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { dropcast } from './dropcast-process.ts';
import { expectUploadedOnce, refusal, startStation } from './station.ts';
import type { Station } from './station.ts';
import { needs } from '../support/needs.ts';
import { mountShare } from '../support/share.ts';
import { until } from '../support/until.ts';

const settings = {
  uploads: { concurrency: 2, stall_timeout: '60s' },
  retry: { attempts: 4, first: '100ms', max: '400ms' },
};

/** Holds each upload request until the test lets it pass, and counts those that are open. */
function holdUploads({ faults }: Station) {
  const open = new Set<() => void>();
  const seen = { most: 0 };
  let isHolding = true;
  faults.upload = async (request, response) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    open.add(resolve);
    seen.most = Math.max(seen.most, open.size);
    const ended = (): void => void open.delete(resolve);
    // A connection carries one upload after the other.
    response.once('finish', ended);
    request.socket.once('close', ended);
    if (isHolding) await promise;
    return request.socket.destroyed;
  };
  return {
    seen,
    /** Lets the oldest one pass. */
    pass: () => [...open][0]?.(),
    passAll: () => {
      isHolding = false;
      for (const resolve of open) resolve();
    },
    areOpen: (count: number) => until(`${count} uploads are open`, () => open.size === count),
  };
}

test('with `concurrency: 2` at most two files are sent at once, under reload, pause, retry and kill -9', async () => {
  await using station = await startStation({ settings });
  const run = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await dropcast([...args, '--config', station.scratch.config]);
    expect({ args, code, stderr }).toMatchObject({ code: 0 });
  };
  const names = Array.from({ length: 12 }, (_, n) => `clip-${n}`);
  station.faults.upload = (_, response) => refusal(response, 413, 'too_large');
  await station.drop('refused.mpg');
  await station.reaches('refused.mpg', 'failed');

  const uploads = holdUploads(station);
  for (const name of names) await station.drop(`${name}.mpg`);
  await uploads.areOpen(2);
  await run('reload');
  uploads.pass();
  await uploads.areOpen(2);
  await run('retry', station.scratch.file('inbox', 'refused.mpg'));
  uploads.pass();
  await uploads.areOpen(2);
  await run('pause', '--all');
  uploads.pass();
  await uploads.areOpen(1);
  await run('resume', '--all');
  await uploads.areOpen(2);
  station.daemon().child.kill('SIGKILL');
  await uploads.areOpen(0);
  await station.start();
  await uploads.areOpen(2);
  uploads.passAll();
  for (const name of [...names, 'refused']) {
    await station.reaches(`${name}.mpg`, 'done');
    expectUploadedOnce(station, name);
  }
  expect(uploads.seen.most).toBe(2);
});

test(
  'with `concurrency: 2` and two uploads stuck in a folder that does not answer, files of another folder are sent',
  needs('mount', 'bindfs'),
  async () => {
    await using station = await startStation({
      settings,
      folders: [{ rescan: '1s' }, { path: 'nas', rescan: '1s' }],
      isStarted: false,
    });
    for (const name of ['behind', 'nas']) await mkdir(station.scratch.file(name));
    await using share = await mountShare(station.scratch.file('behind'), station.scratch.file('nas'));
    await station.start();
    const uploads = holdUploads(station);
    const stuck = ['stuck-0', 'stuck-1'].map((name) => ({ name, path: station.scratch.file('nas', `${name}.mpg`) }));
    // More than the buffers between file and host hold, so that a part is still to be read.
    for (const { path } of stuck) await station.drop(path, randomBytes(24 * 1024 * 1024));
    await uploads.areOpen(2);
    share.hang();
    uploads.passAll();

    for (const name of ['there-0', 'there-1', 'there-2']) await station.drop(`${name}.mpg`);
    for (const name of ['there-0', 'there-1', 'there-2']) await station.reaches(`${name}.mpg`, 'done');
    for (const { path } of stuck) expect(await station.file(path)).toMatchObject({ state: 'uploading' });
    share.answer();
    for (const { name, path } of stuck) {
      await station.reaches(path, 'done');
      expectUploadedOnce(station, name);
    }
  },
);
