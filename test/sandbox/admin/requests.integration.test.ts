import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { put, readSample, runSandbox, until, type Json, type RunningSandbox } from '../running-sandbox.ts';
import { admin } from './admin-side.ts';

const journal = async (service: RunningSandbox, query = ''): Promise<Json[]> =>
  (await admin(service, `GET /requests${query}`)).body.data;

test('lists each request with its key and answer', async () => {
  await using service = await runSandbox({ nowMs: () => Date.UTC(2026, 0, 1) });
  const { key, id } = (await admin(service, 'POST /keys', { name: 'CI' })).body.data;
  await service.call('GET', '/videos?channel_id=ch_main', undefined, { authorization: `Bearer ${key}` });
  await service.call('PATCH', '/videos/vid_x', { title: 'x'.repeat(10_000) });
  await fetch(`${service.sandbox.baseUrl}/videos`);
  const entries = await until(async () => {
    const all = await journal(service);
    return all.at(-1)?.duration_ms === null ? undefined : all;
  });
  const facts = { at: '2026-01-01T00:00:00.000Z', fault: null, duration_ms: expect.any(Number) };
  expect(entries).toMatchObject([
    { ...facts, number: 1, operation: 'videos.list', method: 'GET', path: '/v1/videos', status: 200, key_id: id },
    { ...facts, number: 2, operation: 'videos.update', method: 'PATCH', status: 404, key_id: 'key_1' },
    { ...facts, number: 3, operation: 'videos.list', status: 401, key_id: null },
  ]);
  expect(entries[0].bytes_in).toBeLessThan(1000);
  expect(entries[1].bytes_in).toBeGreaterThan(10_000);
  expect(entries[1].bytes_in).toBeLessThan(11_000);
  expect(entries[0].bytes_out).toBeGreaterThan(100);
});

test('counts the bytes of each request of a connection for itself', async () => {
  await using service = await runSandbox();
  const socket = connect(service.sandbox.port, '127.0.0.1').resume();
  const asked = `GET /v1/videos HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  for (const number of [1, 2]) {
    socket.write(asked);
    await until(async () => ((await journal(service))[number - 1]?.duration_ms === undefined ? undefined : true));
    await until(async () => ((await journal(service))[number - 1].duration_ms === null ? undefined : true));
  }
  expect((await journal(service)).map((entry) => entry.bytes_in)).toEqual([asked.length, asked.length]);
  socket.destroy();
});

test('has no secret: no token of an upload address, no key, no body, and nothing of the admin side', async () => {
  await using service = await runSandbox();
  const { id, upload_url: url } = await service.create({ title: 'SECRET title' });
  const token = url.split('/').at(-1) ?? '';
  await put(url, await readSample('interview.mp3'));
  await put(url.replace('/uploads/', '/v1/uploads/'), await readSample('interview.mp3'));
  await service.call('GET', `/videos?api_key=SECRET&token=${service.sandbox.adminToken}`);
  await fetch(service.sandbox.pageUrl);
  const socket = connect(service.sandbox.port, '127.0.0.1');
  socket.end('GET http://user:SECRET@localhost/v1/videos HTTP/1.1\r\nHost: localhost\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  const entries = await journal(service);
  expect(entries.map(({ path }) => path)).toEqual([
    '/v1/videos',
    `/uploads/${id}/[token]`,
    `/v1/uploads/${id}/[token]`,
    '/v1/videos',
    '/v1/videos',
  ]);
  const { apiKey, adminToken } = service.sandbox;
  for (const secret of [token, apiKey, adminToken, 'SECRET']) expect(JSON.stringify(entries)).not.toContain(secret);
});

test('a very long path is cut', async () => {
  await using service = await runSandbox();
  await service.call('GET', `/${'x'.repeat(10_000)}`);
  expect((await journal(service))[0].path).toHaveLength(301);
});

test('filters by operation, status, class of status and time, and gives the last so many', async () => {
  await using service = await runSandbox();
  await admin(service, 'PUT /clock', { frozen: true });
  await service.call('GET', '/videos');
  await service.call('GET', '/videos/vid_x');
  const { now } = (await admin(service, 'POST /clock/advance', { by: '1h' })).body.data;
  await service.call('GET', '/channels');
  await service.call('GET', '/videos?page=x');
  const numbers = async (query: string) => (await journal(service, query)).map(({ number }) => number);
  expect(await numbers('?operation=videos.list')).toEqual([1, 4]);
  expect(await numbers('?status=404')).toEqual([2]);
  expect(await numbers('?status=4xx')).toEqual([2, 4]);
  expect(await numbers('?status=2xx&operation=channels.list')).toEqual([3]);
  expect(await numbers(`?since=${now}`)).toEqual([3, 4]);
  expect(await numbers('?limit=2')).toEqual([3, 4]);
  expect((await admin(service, 'GET /requests?limit=2')).body.meta).toEqual({ total: 4 });
  expect((await admin(service, 'DELETE /requests')).status).toBe(204);
  expect(await numbers('')).toEqual([]);
});

test('filters by method, key, subject, path, text, fault, time and number, and gives pages', async () => {
  await using service = await runSandbox();
  await admin(service, 'PUT /clock', { frozen: true });
  const { id } = await service.create({ title: 'Needle', channel_id: 'ch_main' });
  await service.call('GET', `/videos/${id}`);
  const { now } = (await admin(service, 'GET /clock')).body.data;
  await admin(service, 'POST /clock/advance', { by: '1h' });
  await service.call('POST', '/feeds/feed_news/publish');
  await admin(service, 'POST /faults', { kind: 'html_502', times: 1 });
  await fetch(`${service.sandbox.baseUrl}/channels`);
  await fetch(`${service.sandbox.baseUrl}/channels`);
  const numbers = async (query: string) => (await journal(service, query)).map(({ number }) => number);
  expect(await numbers('?method=post')).toEqual([1, 3]);
  expect(await numbers('?key=key_1')).toEqual([1, 2, 3]);
  expect(await numbers('?key=none')).toEqual([4, 5]);
  expect(await numbers(`?video_id=${id}`)).toEqual([1, 2]);
  expect(await numbers('?channel_id=ch_main')).toEqual([1, 2]);
  expect(await numbers('?feed_id=feed_news')).toEqual([3]);
  expect(await numbers('?path=videos')).toEqual([1, 2]);
  expect(await numbers('?path=/v1/videos/*')).toEqual([2]);
  expect(await numbers('?path=*videos')).toEqual([1]);
  expect(await numbers('?text=needle')).toEqual([1, 2]);
  expect(await numbers('?fault=html_502')).toEqual([4]);
  expect(await numbers('?fault=any')).toEqual([4]);
  expect(await numbers('?fault=none&after=2')).toEqual([3, 5]);
  expect(await numbers(`?until=${now}`)).toEqual([1, 2]);
  expect(await numbers('?after=1&limit=2')).toEqual([2, 3]);
  expect(await numbers('?before=5&limit=2')).toEqual([3, 4]);
  expect((await admin(service, 'GET /requests?after=1&limit=2')).body.meta).toEqual({ total: 4 });
});

test.each([
  'status=1',
  'method=G%20T',
  'since=today',
  'after=x',
  'limit=0',
  'limit=1001',
  'odd=1',
  'path=',
  `text=${'x'.repeat(600)}`,
])('the filter %.20s is refused in a sentence', async (filter) => {
  await using service = await runSandbox();
  const { status, body } = await admin(service, `GET /requests?${filter}`);
  expect([status, body.error.code]).toEqual([422, 'invalid_request']);
  expect(body.error.message).toContain(filter.split('=', 1)[0]);
});

test('names the fault that hit a request', async () => {
  await using service = await runSandbox();
  await admin(service, 'POST /faults', { operation: 'videos.list', kind: 'status', status: 503 });
  expect((await service.call('GET', '/videos')).status).toBe(503);
  await service.call('GET', '/channels');
  expect((await journal(service)).map(({ fault }) => fault)).toEqual(['status', null]);
});
