import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { admin } from '../admin/admin-side.ts';
import { requestText, talk } from '../faults/raw-http.ts';
import { put, readSample, runSandbox, until, type Json, type RunningSandbox } from '../running-sandbox.ts';

/** Everything about the request of this number, once its exchange has ended. */
async function request(service: RunningSandbox, number: number): Promise<Json> {
  return until(async () => {
    const { body } = await admin(service, `GET /requests/${number}`);
    return body.data && body.data.duration_ms !== null ? body.data : undefined;
  });
}

const head = (service: RunningSandbox, more: Record<string, string> = {}) => ({
  Authorization: `Bearer ${service.sandbox.apiKey}`,
  ...more,
});
const JSON_TYPE = { 'Content-Type': 'application/json' };

test('a request has its query, headers, bodies, timing and what it is about', async () => {
  await using service = await runSandbox();
  const { id } = (await service.call('POST', '/videos', { title: 'Tides', channel_id: 'ch_news' }, { 'x-note': 'one' }))
    .body;
  const seen = await request(service, 1);
  expect(seen).toMatchObject({ video_id: id, channel_id: 'ch_news', feed_id: null, query: '', fault: null });
  expect(seen.details).toMatchObject({
    request: {
      headers: { authorization: 'Bearer [key_1]', 'content-type': 'application/json', 'x-note': 'one' },
      body: { type: 'application/json', complete: true, cut: false, json: { title: 'Tides', channel_id: 'ch_news' } },
    },
    answer: { body: { complete: true, json: { id, status: 'pending' } } },
    timing: {
      request_received_ms: expect.any(Number),
      answer_begun_ms: expect.any(Number),
      answer_sent_ms: expect.any(Number),
    },
    fault_rule: null,
  });
  expect(seen.details.answer.headers['content-type']).toContain('application/json');
  await service.call('GET', '/videos?page=1&per_page=2');
  expect(await request(service, 2)).toMatchObject({ query: 'page=1&per_page=2', details: { request: { body: null } } });
});

test('of media only size, type and first bytes are kept, both ways', async () => {
  await using service = await runSandbox();
  const { id, upload_url: url } = await service.create();
  const file = await readSample('clip.mp4');
  await put(url, file, { 'content-type': 'application/json' });
  await service.ended(id);
  await fetch(new URL(`/cdn/videos/${id}.mp4`, service.sandbox.baseUrl)).then((answer) => answer.arrayBuffer());
  const { body: list } = await admin(service, 'GET /requests?limit=1000');
  const numbers = [list.data[1].number, list.data.at(-1).number];
  const first = file.subarray(0, 32).toString('hex');
  const upload = await request(service, numbers[0]);
  expect(upload).toMatchObject({ operation: 'uploads.put', video_id: id });
  expect(upload.details.request.body).toEqual({
    type: 'application/json',
    size: file.length,
    complete: true,
    cut: true,
    first_bytes: first,
  });
  expect((await request(service, numbers[1])).details.answer.body).toEqual({
    type: 'video/mp4',
    size: file.length,
    complete: true,
    cut: true,
    first_bytes: first,
  });
});

test('a chunked body is shown as the service read it', async () => {
  await using service = await runSandbox();
  const chunks = ['{"title":', '"In pieces"}'].map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('');
  const sent = requestText(
    'POST /v1/videos',
    head(service, { ...JSON_TYPE, 'Transfer-Encoding': 'chunked', Connection: 'close' }),
    `${chunks}0\r\n\r\n`,
  );
  expect((await talk(service.sandbox.port, sent)).text).toContain('201 Created');
  expect((await request(service, 1)).details.request.body).toMatchObject({
    size: 21,
    complete: true,
    json: { title: 'In pieces' },
  });
});

test('of an aborted body there is what had arrived', async () => {
  await using service = await runSandbox();
  const socket = connect(service.sandbox.port, '127.0.0.1');
  socket.write(
    requestText('POST /v1/videos', head(service, { ...JSON_TYPE, 'Content-Length': '100' }), '{"title":"Half'),
  );
  await until(async () => (await admin(service, 'GET /requests/1')).body.data?.details.request.body?.size === 14);
  socket.resetAndDestroy();
  const seen = await request(service, 1);
  expect(seen).toMatchObject({ status: expect.any(Number), details: { timing: { request_received_ms: null } } });
  expect(seen.details.request.body).toEqual({
    type: 'application/json',
    size: 14,
    complete: false,
    cut: false,
    text: '{"title":"Half',
  });
});

test('the answer to HEAD has headers and no body', async () => {
  await using service = await runSandbox();
  await service.call('HEAD', '/videos');
  const seen = await request(service, 1);
  expect(seen.details.answer).toMatchObject({ headers: { 'content-type': 'application/json' }, body: null });
});

test('an answer to HEAD whose body Node drops has none either', async () => {
  await using service = await runSandbox();
  await admin(service, 'POST /faults', { kind: 'status', status: 503 });
  await service.call('HEAD', '/videos');
  expect((await request(service, 1)).details.answer).toMatchObject({
    headers: { 'content-length': expect.any(String) },
    body: null,
  });
});

test('a body after 100 Continue is seen, and a refusal before it too', async () => {
  await using service = await runSandbox();
  const expecting = { ...JSON_TYPE, Expect: '100-continue', Connection: 'close', 'Content-Length': '13' };
  const socket = connect(service.sandbox.port, '127.0.0.1').setEncoding('utf8');
  socket.write(requestText('POST /v1/videos', head(service, expecting)));
  await once(socket, 'data');
  socket.write('{"title":"x"}');
  await once(socket, 'close');
  expect(await request(service, 1)).toMatchObject({
    status: 201,
    details: { request: { body: { json: { title: 'x' } } } },
  });
  const refused = requestText('PUT /uploads/vid_none/x', { ...expecting, 'Content-Type': 'video/mp4' });
  await talk(service.sandbox.port, refused);
  expect(await request(service, 2)).toMatchObject({
    status: 404,
    details: { request: { body: null }, answer: { body: { json: { error: { code: 'not_found' } } } } },
  });
});

test('requests in one packet each have their own answer', async () => {
  await using service = await runSandbox();
  const ask = (path: string, more = {}) => requestText(`GET ${path}`, head(service, more));
  const sent = ask('/v1/channels') + ask('/v1/videos/vid_x') + ask('/v1/feeds', { Connection: 'close' });
  await talk(service.sandbox.port, sent);
  const seen = await Promise.all([1, 2, 3].map((number) => request(service, number)));
  expect(seen.map(({ status }) => status)).toEqual([200, 404, 200]);
  const [channels, missing, feeds] = seen.map(({ details }) => details.answer.body.json);
  expect([channels.data[0].id, missing.error.code, feeds.data[0].id]).toEqual(['ch_main', 'not_found', 'feed_news']);
});

test('of an answer that a fault cuts off there is what was sent, with the fault', async () => {
  await using service = await runSandbox();
  const rule = { kind: 'reset', of: 'answer', after_bytes: 10, operation: 'channels.list' };
  await admin(service, 'POST /faults', rule);
  await service.call('GET', '/channels').catch(() => undefined);
  const seen = await request(service, 1);
  expect(seen).toMatchObject({
    status: 200,
    fault: 'reset',
    details: { fault_rule: rule, timing: { answer_sent_ms: null } },
  });
  expect(seen.details.answer.body).toMatchObject({ size: 10, complete: false, text: '{"data":[{' });
});

test.each([
  [{ kind: 'delay', ms: 1 }, 200, true],
  [{ kind: 'truncated_json' }, 200, true],
  [{ kind: 'status', status: 503 }, 503, true],
  [{ kind: 'answer_lost' }, 0, false],
])('with the fault %j the answer is what the client got', async (rule, status, hasBody) => {
  await using service = await runSandbox();
  await admin(service, 'POST /faults', rule);
  const got = await fetch(`${service.sandbox.baseUrl}/channels`, { headers: head(service) })
    .then((answer) => answer.text())
    .catch(() => '');
  const seen = await request(service, 1);
  const body = seen.details.answer.body;
  expect([seen.status, body !== null]).toEqual([status, hasBody]);
  if (hasBody) expect(body.size).toBe(Buffer.byteLength(got));
});

test('a body that is answered before anybody reads it is complete, if it arrived', async () => {
  await using service = await runSandbox();
  await fetch(`${service.sandbox.baseUrl}/videos`, { method: 'POST', body: '{"title":"x"}' });
  expect(await request(service, 1)).toMatchObject({
    status: 401,
    details: {
      request: { body: { type: expect.stringContaining('text/plain'), complete: true, json: { title: 'x' } } },
    },
  });
});

test('a long body is cut and says so', async () => {
  await using service = await runSandbox();
  await service.call('PATCH', '/channels/ch_main', `{"name": "${'x'.repeat(100_000)}`);
  const { body } = (await request(service, 1)).details.request;
  expect(body).toMatchObject({ size: 100_010, cut: true });
  expect(body.text).toHaveLength(64 * 1024);
});

test('JSON of a thousand brackets is shown as text', async () => {
  await using service = await runSandbox();
  await service.call(
    'PATCH',
    '/channels/ch_main',
    `{"default_player_settings": ${'['.repeat(5000)}${']'.repeat(5000)}}`,
  );
  expect((await request(service, 1)).details.request.body.text).toHaveLength(10_029);
});

test('has no secret anywhere: not in bodies, headers, queries, paths and commands', async () => {
  await using service = await runSandbox();
  const { apiKey, adminToken } = service.sandbox;
  const { upload_url: url } = await service.create({ title: `${apiKey} and ${adminToken}` });
  const token = url.split('/').at(-1) ?? '';
  await service.call('POST', '/videos', { title: 'x', description: `see ${url} and whsec_0123456789abcdef` });
  await service.call('GET', `/videos?token=${adminToken}&api_key=${apiKey}`, undefined, {
    cookie: 'session=SECRET',
    'x-token': 'SECRET',
  });
  await service.call('GET', `/videos/${apiKey}`);
  await fetch(`${service.sandbox.baseUrl}/videos`, { headers: { authorization: 'Bearer SECRETSECRET' } });
  await put(url, await readSample('interview.mp3'));
  for (const number of [1, 2, 3, 4, 5, 6]) {
    await request(service, number);
    const full = JSON.stringify((await admin(service, `GET /requests/${number}`)).body);
    const curl = await fetch(`${service.sandbox.adminUrl}/requests/${number}/curl`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const all = full + (await curl.text());
    for (const secret of [apiKey, adminToken, token, '0123456789abcdef', 'SECRET'])
      expect(all, `request ${number}`).not.toContain(secret);
  }
  expect((await request(service, 5)).details.request.headers.authorization).toBe('Bearer [not a valid key]');
});

test.each(['/requests/0', '/requests/x', '/requests/99', '/requests/1e3'])(
  'GET %s is 404 in a sentence',
  async (path) => {
    await using service = await runSandbox();
    await service.call('GET', '/videos');
    expect(await admin(service, `GET ${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: expect.stringContaining('request') } },
    });
  },
);
