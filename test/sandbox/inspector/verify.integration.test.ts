import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { ExpectationError, verified } from '../../../packages/sandbox/src/inspector/verify.ts';
import { admin } from '../admin/admin-side.ts';
import { requestText } from '../faults/raw-http.ts';
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
  expect(body.error.message).toContain('#3 did not');
  expect(body.data.expectations).toMatchObject([{ state: 'unmet', matched: [1, 3] }]);
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
  const { status, body } = await verify(service, expected);
  expect([status, body.error.code]).toEqual([422, 'invalid_request']);
  expect(body.error.message).toContain(message);
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

test('requests that the journal has dropped are not taken for ones that never came', () => {
  const never = { expectations: [{ request: { operation: 'videos.delete' }, never: true as const }] };
  const extent = { forgotten: 7, cleared: 0, lastNumber: 9 };
  expect(() => verified(never, [], extent)).toThrow(/no longer has the requests up to #7/);
  expect(verified({ ...never, after: 7 }, [], extent).isMet).toBe(true);
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
    `"after" is ${last + 1}, but the latest request is #${last}: numbers restart with the sandbox.`,
  ]);
  await admin(service, 'DELETE /requests');
  const late = await verify(service, { ...never, after: last - 1 });
  expect([late.status, late.body.error.message]).toEqual([
    409,
    `The journal was cleared at #${last}: earlier requests are no longer known.`,
  ]);
  expect((await verify(service, { ...never, after: last })).status).toBe(200);
  expect((await verify(service, never)).status).toBe(200);
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
