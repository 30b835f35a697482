import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runSandbox } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { admin } from './admin-side.ts';

const samplesDir = fileURLToPath(new URL('../../media', import.meta.url));

test('makes videos of the sample files, probed for real, and past plays', async () => {
  await using service = await runSandbox({ samplesDir, processingMs: { min: 60_000, max: 60_000 } });
  const { status, body } = await admin(service, 'POST /seed', { videos: 9, days: 7 });
  expect([status, body.data.videos]).toEqual([201, 9]);
  expect(body.data.plays).toBeGreaterThan(20);
  const { data, meta } = (await service.call('GET', '/videos')).body;
  expect(meta.total).toBe(9);
  const statuses = data.map((video: { status: string }) => video.status);
  expect(statuses.filter((status: string) => status === 'failed')).toHaveLength(1); // the sample that is cut off
  expect(statuses.filter((status: string) => status === 'ready')).toHaveLength(8);
  expect(new Set(service.sandbox.files().map(({ sha256 }) => sha256)).size).toBe(7);
  const { data: overview } = (await service.call('GET', '/analytics/overview')).body;
  expect(overview.total_views).toBeGreaterThan(0);
});

test('makes clips without samples, no two the same, and no plays for 0 days', async () => {
  await using service = await runSandbox();
  expect((await admin(service, 'POST /seed', { videos: 3, days: 0 })).body.data).toEqual({ videos: 3, plays: 0 });
  const { data } = (await service.call('GET', '/videos')).body;
  expect(data.map(({ status, duration }: { status: string; duration: number }) => [status, duration])).toEqual([
    ['ready', 3],
    ['ready', 3],
    ['ready', 3],
  ]);
  expect(new Set(service.sandbox.files().map(({ sha256 }) => sha256)).size).toBe(3);
});

test('the same seed fills it with the same titles, a second call adds more, and no body means a good deal', async () => {
  const titles = async () => {
    await using service = await runSandbox({ seed: 5 });
    await admin(service, 'POST /seed', { videos: 2, days: 0 });
    await admin(service, 'POST /seed', { videos: 1, days: 0 });
    return (await service.call('GET', '/videos')).body.data.map(({ title }: { title: string }) => title);
  };
  const made = await titles();
  expect(made).toHaveLength(3);
  expect(await titles()).toEqual(made);
  await using service = await runSandbox();
  expect((await admin(service, 'POST /seed')).body.data.videos).toBe(20);
});

test('a reset in between ends it', async () => {
  await using service = await runSandbox();
  const seeding = admin(service, 'POST /seed', { videos: 1000, days: 0 });
  await expect.poll(() => service.sandbox.files().length, { timeout: 25_000 }).toBeGreaterThan(2);
  await admin(service, 'POST /reset');
  expect(await seeding).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  expect(service.sandbox.files()).toEqual([]);
});

test('requests are answered while the plays of a year are made, and a reset ends that too', async () => {
  await using service = await runSandbox({ requestsPerHour: 100_000 });
  await admin(service, 'POST /seed', { videos: 12, days: 0 });
  let isDone = false;
  const seeding = admin(service, 'POST /seed', { videos: 0, days: 366 }).finally(() => (isDone = true));
  const views = async () => (await service.call('GET', '/analytics/overview')).body.data.total_views as number;
  await expect.poll(views, { interval: 1, timeout: 25_000 }).toBeGreaterThan(0);
  expect(isDone).toBe(false);
  await admin(service, 'POST /reset');
  expect((await seeding).status).toBe(409);
  expect(await views()).toBe(0);
});

test('closing in between ends it', async () => {
  await using folder = await scratchDirectory();
  await using service = await runSandbox({ dataDir: folder.path });
  const seeding = admin(service, 'POST /seed', { videos: 1000, days: 0 }).catch(() => 'cut');
  await expect.poll(() => service.sandbox.files().length, { timeout: 25_000 }).toBeGreaterThan(2);
  await service.sandbox.close();
  expect(await seeding).toBe('cut');
  expect((await readdir(join(folder.path, 'media'))).length).toBeLessThan(500);
});

test('without a channel there is nowhere to put videos', async () => {
  await using service = await runSandbox({ seedData: 'none' });
  expect(await admin(service, 'POST /seed', { videos: 1 })).toMatchObject({ status: 409 });
});
