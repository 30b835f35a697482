import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RemoteKeys } from '../../../packages/sandbox/src/admin/remote-keys.ts';
import { runSandbox, type RunningSandbox } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { admin } from './admin-side.ts';

const as = (key: string) => ({ authorization: `Bearer ${key}` });
const create = async (service: RunningSandbox, body: Record<string, unknown>) =>
  (await admin(service, 'POST /keys', body)).body.data;

test('5.2, 5.3 a key is created with a name, shown once, and works at once', async () => {
  await using folder = await scratchDirectory();
  await using service = await runSandbox({ dataDir: folder.path });
  const { status, headers, body } = await admin(service, 'POST /keys', { name: 'CI <b>' });
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
  const { key, ...shown } = body.data;
  expect(key).toMatch(/^sk_sandbox_[\w-]{32}$/);
  expect(shown).toMatchObject({ id: 'key_2', name: 'CI <b>', hint: `${key.slice(0, 15)}…`, read_only: false });
  expect((await service.call('GET', '/videos', undefined, as(key))).status).toBe(200);
  const listed = await admin(service, 'GET /keys');
  expect(listed.body.data.map(({ name }: { name: string }) => name)).toEqual(['sandbox', 'CI <b>']);
  const everything = JSON.stringify([listed.body, (await admin(service, 'GET /requests')).body]);
  expect(everything).not.toContain(key.slice(16));
  expect(everything).not.toContain(service.sandbox.apiKey.slice(16));
  const records = await Promise.all(['sandbox.db', 'sandbox.db-wal'].map((name) => readFile(join(folder.path, name))));
  expect(Buffer.concat(records).includes(key)).toBe(false);
});

test('two keys of the same name are two keys', async () => {
  await using service = await runSandbox();
  const [one, two] = [await create(service, { name: 'CI' }), await create(service, { name: 'CI' })];
  expect(one.key).not.toBe(two.key);
  expect(one.id).not.toBe(two.id);
});

test('5.4 a key is audited: when it was last used, from where, how often, refused requests included', async () => {
  const atMs = Date.UTC(2026, 0, 1);
  await using service = await runSandbox({ nowMs: () => atMs, requestsPerHour: 2 });
  const { key } = await create(service, { name: 'CI' });
  for (const path of ['/videos', '/nowhere', '/videos']) await service.call('GET', path, undefined, as(key));
  const [first, second] = (await admin(service, 'GET /keys')).body.data;
  expect(first).toMatchObject({ use_count: 0, last_used_at: null, last_used_from: null });
  expect(second).toMatchObject({
    use_count: 3,
    last_used_at: '2026-01-01T00:00:00.000Z',
    last_used_from: '127.0.0.1',
  });
});

test('5.4, 5.6 a revoked key is rejected with unauthorized at once, and the others are not affected', async () => {
  await using service = await runSandbox();
  const [one, two] = [await create(service, { name: 'one' }), await create(service, { name: 'two' })];
  const { body } = await admin(service, `DELETE /keys/${one.id}`);
  expect(body.data).toMatchObject({ id: one.id, revoked_at: expect.stringMatching(/^\d{4}-/) });
  expect(await service.call('GET', '/videos', undefined, as(one.key))).toMatchObject({
    status: 401,
    body: { error: { code: 'unauthorized' } },
  });
  expect((await service.call('GET', '/videos', undefined, as(two.key))).status).toBe(200);
  expect((await service.call('GET', '/videos')).status).toBe(200);
  const again = await admin(service, `DELETE /keys/${one.id}`);
  expect(again.body.data.revoked_at).toBe(body.data.revoked_at);
});

test.each(['key_99', 'key_0', '1', 'key_-1', 'key_1e0', '%2f..%2f', 'key_99999999999999999999', 'x'.repeat(5000)])(
  'revoking %s, which no key has, is 404',
  async (id) => {
    await using service = await runSandbox();
    expect((await admin(service, `DELETE /keys/${id}`)).status).toBe(404);
    expect((await service.call('GET', '/videos')).status).toBe(200);
  },
);

test.each(['..', '.', '', '../state', 'key_99', '%2e%2e'])(
  'asked from another process, revoking %j is no key either',
  async (id) => {
    await using service = await runSandbox();
    const { adminUrl, adminToken: token } = service.sandbox;
    expect(await new RemoteKeys({ adminUrl, token }).revoke(id)).toBeUndefined();
    expect((await service.call('GET', '/videos')).status).toBe(200);
  },
);

test('5.8 a key for reading only reads everything and is forbidden every change', async () => {
  await using service = await runSandbox();
  const video = await service.create();
  const { key } = await create(service, { name: 'dashboard', read_only: true });
  for (const path of ['/videos', `/videos/${video.id}`, '/channels', '/feeds', '/analytics/overview'])
    expect([path, (await service.call('GET', path, undefined, as(key))).status]).toEqual([path, 200]);
  for (const [method, path, body] of [
    ['POST', '/videos', { title: 'New' }],
    ['PATCH', `/videos/${video.id}`, { title: 'Changed' }],
    ['DELETE', `/videos/${video.id}`, undefined],
    ['PATCH', '/channels/ch_main', { name: 'Changed' }],
    ['POST', '/feeds/feed_main/publish', undefined],
    ['POST', '/nowhere', {}],
  ] as const) {
    const answer = await service.call(method, path, body, as(key));
    expect([path, answer.status, answer.body.error.code]).toEqual([path, 403, 'forbidden']);
  }
  const { body } = await service.call('GET', `/videos/${video.id}`);
  expect(body.data.title).toBe('A clip');
  expect((await service.call('GET', '/videos')).body.meta.total).toBe(1);
});

test('5.7 the limit is counted per key', async () => {
  await using service = await runSandbox({ requestsPerHour: 2 });
  const { key } = await create(service, { name: 'other' });
  const statuses = async (headers: Record<string, string>) => {
    const asked = [];
    for (let index = 0; index < 3; index += 1)
      asked.push((await service.call('GET', '/videos', undefined, headers)).status);
    return asked;
  };
  expect(await statuses({})).toEqual([200, 200, 429]);
  expect(await statuses(as(key))).toEqual([200, 200, 429]);
});

test('keys and their revocation survive a restart, also of the first key', async () => {
  await using folder = await scratchDirectory();
  const kept = { key: '' };
  {
    await using service = await runSandbox({ dataDir: folder.path });
    kept.key = (await create(service, { name: 'kept' })).key;
    await admin(service, 'DELETE /keys/key_1');
  }
  await using service = await runSandbox({ dataDir: folder.path });
  expect((await service.call('GET', '/videos')).status).toBe(401);
  expect((await service.call('GET', '/videos', undefined, as(kept.key))).status).toBe(200);
});
