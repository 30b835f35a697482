import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { ExpectationError, verified } from '../../../packages/sandbox/src/inspector/verify.ts';
import { admin } from '../admin/admin-side.ts';
import { requestText, talk } from '../faults/raw-http.ts';
import { put, readSample, runSandbox, until, type RunningSandbox } from '../running-sandbox.ts';

const verify = (service: RunningSandbox, expected: unknown) => admin(service, 'POST /verify', expected);
const create = (title: string) => ({ operation: 'videos.create', body: { title } });

test('exactly one create with a title, before its PUT', async () => {
  await using service = await runSandbox();
  const expected = {
    expectations: [{ name: 'the create', request: create('Tides'), exactly: 1, before: { operation: 'uploads.put' } }],
  };
  const { upload_url: url } = await service.create({ title: 'Tides' });
  await put(url, await readSample('interview.mp3'));
  expect(await verify(service, expected)).toMatchObject({
    status: 200,
    body: { data: { ok: true, state: 'met', expectations: [{ matched: [1] }] } },
  });
  await service.create({ title: 'Tides' });
  const { status, body } = await verify(service, expected);
  expect([status, body.error.code, body.data.ok]).toEqual([422, 'verification_failed', false]);
  expect(body.error.message).toContain('Expected exactly 1 request, but 2 came.');
  expect(body.error.message).toContain('#3 came after it');
  expect(body.data.expectations).toMatchObject([{ state: 'broken', matched: [1, 3], broken_by: [3] }]);
  expect((await verify(service, { ...expected, after: 1 })).body.data.expectations[0].matched).toEqual([3]);
});

test('a near miss is named with its difference, and no secret is in the report', async () => {
  await using service = await runSandbox();
  await service.create({ title: `Tids ${service.sandbox.apiKey}` });
  const { body } = await verify(service, { expectations: [{ request: create('Tides') }] });
  expect(body.error.message).toContain('body.title is "Tids [secret]", not "Tides"');
  expect(body.data.expectations[0].nearest).toMatchObject([{ number: 1 }]);
});

test.each([
  [
    'a wrong matcher',
    { expectations: [{ request: { operation: 'odd' } }] },
    'expectations.0.request.operation: must be an operation',
  ],
  ['no list', { expectations: 1 }, 'expectations: must be a list'],
  ['nothing', {}, 'expectations: must be a list'],
  ['a list', [], 'The body: '],
])('%s is refused with its place', async (_what, expected, message) => {
  await using service = await runSandbox();
  for (const request of ['POST /verify', 'PUT /expectations'] as const) {
    const { status, body } = await admin(service, request, expected);
    expect([status, body.error.code]).toEqual([422, 'invalid_request']);
    expect(body.error.message).toContain(message);
  }
});

test('a program checks with verify, which throws the report', async () => {
  await using service = await runSandbox();
  await service.create({ title: 'Tides' });
  service.sandbox.verify({ expectations: [{ request: create('Tides'), exactly: 1 }], only: true });
  expect(() => service.sandbox.verify({ expectations: [{ request: create('Tides'), never: true }] })).toThrow(
    ExpectationError,
  );
  expect(() => service.sandbox.verify({ expectations: [{ request: create('Tides'), never: true }] })).toThrow(
    'Expected no request, but 1 came.',
  );
  expect(() => service.sandbox.verify({ expectations: [{ request: { operation: 'odd' } }] })).toThrow(TypeError);
});

test('expectations are about the requests after they were registered, whatever the journal forgets', async () => {
  await using service = await runSandbox();
  await service.create({ title: 'Tides' });
  const { body } = await admin(service, 'PUT /expectations', {
    expectations: [{ request: create('Tides'), exactly: 2 }],
  });
  expect(body.data).toMatchObject({ state: 'unmet', after: 1, registered: { expectations: [{ exactly: 2 }] } });
  expect((await admin(service, 'POST /expectations/verify')).status).toBe(422);
  await service.create({ title: 'Tides' });
  await until(async () => (await admin(service, 'GET /requests/2')).body.data?.duration_ms !== null);
  await admin(service, 'DELETE /requests');
  await service.create({ title: 'Tides' });
  expect((await admin(service, 'POST /expectations/verify')).status).toBe(200);
  await service.create({ title: 'Tides' });
  expect((await admin(service, 'GET /expectations')).body.data).toMatchObject({
    state: 'broken',
    expectations: [{ matched: [2, 3, 4], broken_by: [4] }],
  });
  expect((await admin(service, 'DELETE /expectations')).status).toBe(204);
  expect((await admin(service, 'GET /expectations')).body.data).toMatchObject({ registered: null, state: null });
  expect((await admin(service, 'POST /expectations/verify')).status).toBe(409);
});

test('a reset forgets expectations', async () => {
  await using service = await runSandbox();
  await admin(service, 'PUT /expectations', { expectations: [], only: true });
  await admin(service, 'POST /reset');
  expect((await admin(service, 'GET /expectations')).body.data.registered).toBeNull();
});

test('without "refuse" a request that breaks an expectation is carried out', async () => {
  await using service = await runSandbox();
  using check = service.sandbox.expect({ expectations: [{ request: { operation: 'videos.create' }, never: true }] });
  await service.create();
  expect(() => check.verify()).toThrow('Expected no request, but 1 came.');
});

test('with "refuse" a request that breaks an expectation is answered with its name, and not carried out', async () => {
  await using service = await runSandbox();
  const check = service.sandbox.expect({
    expectations: [
      { name: 'one create', request: { operation: 'videos.create', body: { title: { $like: 'T*' } } }, exactly: 1 },
      { name: 'no delete', request: { operation: 'videos.delete' }, never: true },
      { name: 'the PUT', request: { operation: 'uploads.put', status: 200 }, after: 'one create' },
      { request: { operation: 'videos.get' }, at_least: 0 },
    ],
    only: true,
    refuse: true,
  });
  const { id, upload_url: url } = await service.create({ title: 'Tides' });
  await put(url, await readSample('interview.mp3'));
  await service.ended(id);
  check.verify();
  const second = await service.call('POST', '/videos', { title: 'Tides' });
  expect([second.status, second.body.error.code]).toEqual([417, 'expectation_broken']);
  expect(second.body.error.message).toMatch(
    /^The sandbox refuses request #\d+, because it breaks "one create": Expected exactly 1 request, but 2 came\.$/,
  );
  expect((await service.call('DELETE', `/videos/${id}`)).body.error.message).toContain('it breaks "no delete"');
  expect((await service.call('GET', '/channels')).body.error.message).toContain('no expectation is about it');
  expect((await service.call('POST', '/videos', { title: 'Another' })).body.error.message).toContain(
    'no expectation is about it',
  );
  expect((await service.call('GET', '/openapi.yaml')).status).toBe(417);
  expect(() => check.verify()).toThrow('2 of 4 expectations do not hold, and 3 unexpected requests came.');
  check[Symbol.dispose]();
  expect((await service.call('GET', '/videos')).body.meta.total).toBe(1);
  expect(() => check.verify()).toThrow('replaced or removed');
});

test('an upload that breaks an expectation is refused before its body', async () => {
  await using service = await runSandbox();
  const { upload_url: url } = await service.create();
  service.sandbox.expect({
    expectations: [{ name: 'no PUT', request: { operation: 'uploads.put' }, never: true }],
    refuse: true,
  });
  const refused = await talk(
    service.sandbox.port,
    requestText(`PUT ${new URL(url).pathname}`, { 'Content-Length': 1e9, Expect: '100-continue' }),
  );
  expect(refused.text).toMatch(/^HTTP\/1\.1 417 /);
  expect(refused.text).toContain('no PUT');
});

test('a body that is too long or cut off is refused as always, and faults come first', async () => {
  await using service = await runSandbox();
  service.sandbox.expect({ expectations: [{ request: { operation: 'videos.create' }, at_least: 0 }], refuse: true });
  expect((await service.call('POST', '/videos', { title: 'x'.repeat(2_000_000) })).status).toBe(413);
  expect((await service.call('POST', '/videos', { title: 'x', description: 'y'.repeat(9000) })).status).toBe(201);
  await admin(service, 'POST /faults', { kind: 'status', status: 503, times: 1 });
  expect((await service.call('GET', '/channels')).status).toBe(503);
  const head = { Authorization: `Bearer ${service.sandbox.apiKey}`, 'Content-Type': 'application/json' };
  const socket = connect(service.sandbox.port, '127.0.0.1');
  socket.write(requestText('POST /v1/videos', { ...head, 'Content-Length': 100 }, '{"title":"Cut off"}'));
  await until(() => service.sandbox.requests().at(-1)?.operation === 'videos.create');
  socket.destroy();
  await until(() => service.sandbox.requests().at(-1)?.durationMs !== null);
  expect((await service.call('GET', '/videos')).body.meta.total).toBe(1);
});

test('expectations replaced by others have no check any more', async () => {
  await using service = await runSandbox();
  const first = service.sandbox.expect({ expectations: [], only: true });
  const second = service.sandbox.expect({ expectations: [], only: true });
  expect(() => first.verify()).toThrow('replaced or removed');
  first[Symbol.dispose]();
  second.verify();
  expect(() => service.sandbox.expect({ expectations: [] })).toThrow(TypeError);
});

test('requests that the journal has dropped are not taken for ones that never came', () => {
  const never = { expectations: [{ request: { operation: 'videos.delete' }, never: true as const }] };
  const extent = { forgotten: 7, cleared: 0, lastNumber: 9 };
  expect(() => verified(never, [], extent)).toThrow(/no room any more for the requests up to #7/);
  expect(verified({ ...never, after: 7 }, [], extent).state).toBe('met');
});

test('requests that were cleared, or have numbers that no request has, are not taken for ones that never came', async () => {
  await using service = await runSandbox();
  const never = { expectations: [{ request: { operation: 'videos.create' }, never: true }] };
  await service.call('GET', '/channels');
  await service.create();
  const { number: last = 0 } = service.sandbox.requests().at(-1) ?? {};
  const early = await verify(service, { ...never, after: last + 1 });
  expect([early.status, early.body.error.message]).toEqual([
    409,
    `"after" is ${last + 1}, but the latest request is #${last}: numbers begin again when the sandbox does.`,
  ]);
  await admin(service, 'DELETE /requests');
  const late = await verify(service, { ...never, after: last - 1 });
  expect([late.status, late.body.error.message]).toEqual([
    409,
    `The journal was cleared at #${last}: what came before is not known any more.`,
  ]);
  expect((await verify(service, { ...never, after: last })).status).toBe(200);
  expect((await verify(service, never)).status).toBe(200);
});

test('with "refuse" a request is not refused for what only its answer tells: key, video and channel', async () => {
  await using service = await runSandbox();
  const { id } = await service.create({ channel_id: 'ch_news' });
  const about = [
    { request: { key: null }, never: true as const },
    { request: { operation: 'channels.list', key: 'key_1' } },
    { request: { operation: 'videos.get', channel_id: 'ch_news' } },
  ];
  const check = service.sandbox.expect({ expectations: about, only: true, refuse: true });
  expect((await service.call('GET', '/channels')).status).toBe(200);
  expect((await service.call('GET', `/videos/${id}`)).status).toBe(200);
  await until(() => service.sandbox.requests().every(({ durationMs }) => durationMs !== null));
  check.verify();
  expect((await service.call('GET', '/feeds', undefined, { authorization: 'Bearer none' })).status).toBe(401);
  expect(() => check.verify()).toThrow('Expected no request, but 1 came.');
});

test('a request whose body is still arriving is not unexpected yet', async () => {
  await using service = await runSandbox();
  const expected = { expectations: [{ request: create('Tides') }], only: true };
  const socket = connect(service.sandbox.port, '127.0.0.1');
  const head = { Authorization: `Bearer ${service.sandbox.apiKey}`, 'Content-Type': 'application/json' };
  socket.write(requestText('POST /v1/videos', { ...head, 'Content-Length': 17 }, '{"title":'));
  await until(() => service.sandbox.requests().length === 1);
  expect((await verify(service, expected)).body.data).toMatchObject({ state: 'unmet', unexpected: [] });
  socket.write('"Tides"}');
  await until(async () => (await verify(service, expected)).status === 200);
  socket.destroy();
});
