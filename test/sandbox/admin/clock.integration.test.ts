import { expect, test } from 'vitest';
import { put, readSample, runSandbox } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { admin } from './admin-side.ts';

const HOUR_MS = 3_600_000;

test('a frozen clock advances only on request, and resumes from there', async () => {
  await using service = await runSandbox();
  const frozen = (await admin(service, 'PUT /clock', { frozen: true })).body.data;
  expect(frozen.frozen).toBe(true);
  expect((await admin(service, 'PUT /clock', { frozen: true })).body.data).toEqual(frozen);
  expect((await admin(service, 'GET /clock')).body.data).toEqual(frozen);
  const { now } = (await admin(service, 'POST /clock/advance', { by: '36h' })).body.data;
  expect(Date.parse(now) - Date.parse(frozen.now)).toBe(36 * HOUR_MS);
  expect((await service.call('POST', '/feeds/feed_main/publish')).body.published_at).toBe(now);
  const resumed = (await admin(service, 'PUT /clock', { frozen: false })).body.data;
  expect(resumed.frozen).toBe(false);
  await expect
    .poll(async () => (await admin(service, 'GET /clock')).body.data.now > now, { timeout: 25_000 })
    .toBe(true);
});

test.each([
  [{ ms: 0 }, 0],
  [{ ms: 1500 }, 1500],
  [{ by: '250ms' }, 250],
  [{ by: '90s' }, 90_000],
  [{ by: '15m' }, 900_000],
  [{ by: '1h' }, HOUR_MS],
  [{ by: '7d' }, 168 * HOUR_MS],
])('advancing by %j is %d ms', async (body, ms) => {
  await using service = await runSandbox();
  const before = (await admin(service, 'PUT /clock', { frozen: true })).body.data.now;
  const after = (await admin(service, 'POST /clock/advance', body)).body.data.now;
  expect(Date.parse(after) - Date.parse(before)).toBe(ms);
});

test('the year 9999 is the end, over several steps too', async () => {
  await using service = await runSandbox();
  expect((await admin(service, 'POST /clock/advance', { by: '2900000d' })).status).toBe(200);
  expect((await admin(service, 'POST /clock/advance', { by: '100000d' })).status).toBe(422);
  expect((await service.call('GET', '/videos')).status).toBe(200);
});

test('8 it drives the rate window and Retry-After', async () => {
  await using service = await runSandbox({ requestsPerHour: 1 });
  await admin(service, 'PUT /clock', { frozen: true });
  const asked = async () => {
    const { status, headers } = await service.call('GET', '/videos');
    return [status, headers.get('retry-after')];
  };
  expect(await asked()).toEqual([200, null]);
  expect(await asked()).toEqual([429, '3600']);
  await admin(service, 'POST /clock/advance', { by: '59m' });
  expect(await asked()).toEqual([429, '60']);
  await admin(service, 'POST /clock/advance', { by: '60s' });
  expect(await asked()).toEqual([200, null]);
});

test('3 it drives the processing: frozen, a video stays in it until the clock is advanced', async () => {
  await using service = await runSandbox({ processingMs: { min: HOUR_MS, max: HOUR_MS } });
  await admin(service, 'PUT /clock', { frozen: true });
  const { id, upload_url } = await service.create();
  expect((await put(upload_url, await readSample('clip.mp4'))).status).toBe(200);
  const status = async () => (await service.call('GET', `/videos/${id}`)).body.data.status;
  expect(await status()).toBe('processing');
  await admin(service, 'POST /clock/advance', { ms: HOUR_MS - 1 });
  expect(await status()).toBe('processing');
  await admin(service, 'POST /clock/advance', { ms: 1 });
  expect(await status()).toBe('ready');
});

test('it drives the expiry of upload addresses', async () => {
  await using service = await runSandbox({ uploadUrlTtlMs: HOUR_MS });
  await admin(service, 'PUT /clock', { frozen: true });
  const [early, late] = [await service.create(), await service.create()];
  await admin(service, 'POST /clock/advance', { ms: HOUR_MS - 1 });
  expect((await put(early.upload_url, await readSample('interview.mp3'))).status).toBe(200);
  await admin(service, 'POST /clock/advance', { ms: 1 });
  expect((await put(late.upload_url, await readSample('interview.mp3'))).status).toBe(403);
});

test('after a restart it is not behind the records, so the rate limit admits requests again', async () => {
  await using folder = await scratchDirectory();
  const dataDir = folder.path;
  const day = 86_400_000;
  {
    await using service = await runSandbox({ dataDir });
    await admin(service, 'POST /clock/advance', { by: '30d' });
    await service.create();
  }
  await using service = await runSandbox({ dataDir, requestsPerHour: 2 });
  const nowMs = async () => Date.parse((await admin(service, 'GET /clock')).body.data.now);
  expect(await nowMs()).toBeGreaterThan(Date.now() + 29.9 * day);
  expect((await service.call('GET', '/videos')).status).toBe(200);
  const refused = await service.call('GET', '/videos');
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3600);
  await admin(service, 'POST /reset');
  expect(await nowMs()).toBeLessThan(Date.now() + day);
});

test('an imported snapshot of a sandbox whose clock was ahead takes the clock along', async () => {
  await using ahead = await runSandbox();
  await admin(ahead, 'POST /clock/advance', { by: '30d' });
  await ahead.create();
  const { body: snapshot } = await admin(ahead, 'GET /export');
  await using service = await runSandbox();
  await admin(service, 'POST /import', snapshot);
  const { now } = (await admin(service, 'GET /clock')).body.data;
  expect(Date.parse(now)).toBeGreaterThanOrEqual(snapshot.tables.videos[0].created_at_ms);
});
