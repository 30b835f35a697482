import { expect, test } from 'vitest';
import { readSample, put, runSandbox } from '../running-sandbox.ts';
import { admin } from './admin-side.ts';

test('GET /state returns counts, addresses and settings, without secrets', async () => {
  await using service = await runSandbox({ seed: 9, uploadOrigin: 'separate', requestsPerHour: 77 });
  await service.upload('clip.mp4');
  await service.upload('truncated.mp4');
  await service.create();
  await admin(service, 'POST /keys', { name: 'more' });
  await admin(service, 'DELETE /keys/key_2');
  const { data } = (await admin(service, 'GET /state')).body;
  expect(data).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    started_at: expect.stringMatching(/^\d{4}-/),
    seed: 9,
    base_url: service.sandbox.baseUrl,
    admin_url: service.sandbox.adminUrl,
    upload_origin: service.sandbox.uploadOrigin,
    clock: { frozen: false },
    limits: { requests_per_hour: 77 },
    counts: {
      videos: { total: 3, pending: 1, processing: 0, ready: 1, failed: 1 },
      channels: 3,
      keys: 1,
      revoked_keys: 1,
      webhooks: 0,
      faults: 0,
      requests: service.sandbox.requests().length,
    },
  });
  for (const secret of [service.sandbox.apiKey, service.sandbox.adminToken])
    expect(JSON.stringify(data)).not.toContain(secret);
});

test('8 PUT /rate-limit changes the limit of every key at once; past requests count', async () => {
  await using service = await runSandbox({ requestsPerHour: 1 });
  const status = async () => (await service.call('GET', '/videos')).status;
  expect([await status(), await status()]).toEqual([200, 429]);
  const { body } = await admin(service, 'PUT /rate-limit', { requests_per_hour: 3 });
  expect(body.data).toEqual({ requests_per_hour: 3 });
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
  await admin(service, 'PUT /rate-limit', { requests_per_hour: 1 });
  expect(await status()).toBe(429);
  expect((await admin(service, 'GET /rate-limit')).body.data).toEqual({ requests_per_hour: 1 });
});

test('3 POST /videos/:id/fail fails a pending or processing video with the given reason, and no other', async () => {
  await using service = await runSandbox({ processingMs: { min: 60_000, max: 60_000 } });
  const [pending, processing] = [await service.create(), await service.create()];
  expect((await put(processing.upload_url, await readSample('clip.mp4'))).status).toBe(200);
  const failure = { code: 'bad_codec', message: 'Made <up>' };
  for (const { id } of [pending, processing]) {
    const { status, body } = await admin(service, `POST /videos/${id}/fail`, failure);
    expect([status, body.data.status, body.data.error]).toEqual([200, 'failed', failure]);
    expect((await service.call('GET', `/videos/${id}`)).body.data.error).toEqual(failure);
    expect((await admin(service, `POST /videos/${id}/fail`, failure)).status).toBe(409);
  }
  expect((await put(pending.upload_url, await readSample('clip.mp4'))).status).toBe(409);
  for (const id of ['vid_none', '%2e%2e', 'x'.repeat(3000)])
    expect((await admin(service, `POST /videos/${id}/fail`, failure)).status).toBe(404);
});
