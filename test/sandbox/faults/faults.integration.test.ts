import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../packages/sandbox/src/sandbox.ts';
import { put, readSample, RunningSandbox, runSandbox, until } from '../running-sandbox.ts';
import { admin } from '../admin/admin-side.ts';
import { appliedFaults, planFaults } from './plan-faults.ts';
import { requestText, talk } from './raw-http.ts';

let service: RunningSandbox;
let clip: Buffer<ArrayBuffer>;
beforeAll(async () => {
  service = await runSandbox({ requestsPerHour: 100_000 });
  clip = await readSample('clip.mp4');
});
afterAll(() => service.sandbox.close());
beforeEach(() => planFaults(service));

const plan = (...rules: object[]) => planFaults(service, ...rules);
const applied = () => appliedFaults(service);
const videos = async () => (await service.call('GET', '/videos?per_page=1')).body.meta.total as number;

/** Any request through a connection of its own: one that is cut must not be taken from a pool. */
function ask(path: string, headers: Record<string, string | number> = {}, method = 'GET', body = '') {
  const authorization = `Bearer ${service.sandbox.apiKey}`;
  const length = body === '' ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const text = requestText(
    `${method} /v1${path}`,
    { Authorization: authorization, Connection: 'close', ...length, ...headers },
    body,
  );
  return talk(service.sandbox.port, text);
}

/** A PUT whose answer need not be one that the contract knows. */
const putStatus = async (url: string, body: Uint8Array<ArrayBuffer> = clip) =>
  (await fetch(url, { method: 'PUT', body })).status;

describe('answers instead of doing anything', () => {
  test('status: the status, code, message and headers that were wished for', async () => {
    await plan({
      kind: 'status',
      status: 503,
      code: 'busy',
      message: 'Later.',
      headers: { 'X-Request-Id': 'req_1' },
      times: 1,
    });
    const answer = await service.call('GET', '/videos');
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'busy', message: 'Later.' } } });
    expect(answer.headers.get('x-request-id')).toBe('req_1');
    expect((await service.call('GET', '/videos')).status).toBe(200);
  });

  test.each([
    [404, 'not_found'],
    [500, 'server_error'],
    [503, 'server_error'],
    [418, 'bad_request'],
  ])('status %i has the code %s by default', async (status, code) => {
    await plan({ kind: 'status', status });
    expect(await service.call('GET', '/videos')).toMatchObject({ status, body: { error: { code } } });
  });

  test('nothing is created, and it costs no request of the key', async () => {
    const before = await videos();
    await plan({ kind: 'status', status: 500, operation: 'videos.create' });
    expect((await service.call('POST', '/videos', { title: 'x' })).status).toBe(500);
    expect(await videos()).toBe(before);
  });

  test.each([
    [{ seconds: 7 }, '7'],
    [{ retry_after: 'absent' }, null],
    [{ retry_after: 'absurd' }, '-1'],
    [{ retry_after: 'absurd', text: 'next Tuesday' }, 'next Tuesday'],
  ])('rate_limited %j has the Retry-After %s', async (form, retryAfter) => {
    await plan({ kind: 'rate_limited', ...form });
    const { status, headers, body } = await service.call('GET', '/channels');
    expect([status, headers.get('retry-after'), body.error.code]).toEqual([429, retryAfter, 'rate_limited']);
  });

  test('rate_limited with a date is so many seconds after the Date of the same answer', async () => {
    await plan({ kind: 'rate_limited', retry_after: 'date', seconds: 90 });
    const { headers } = await service.call('GET', '/channels');
    expect(Date.parse(headers.get('retry-after') ?? '') - Date.parse(headers.get('date') ?? '')).toBe(90_000);
  });

  test('html_502 is the page of a proxy', async () => {
    await plan({ kind: 'html_502' });
    const { text } = await ask('/videos');
    expect(text).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
    expect(text).toMatch(/Content-Type: text\/html/i);
    expect(text).toContain('<h1>502 Bad Gateway</h1>');
  });

  test('redirect has the given location', async () => {
    await plan({ kind: 'redirect', status: 302, location: 'http://127.0.0.1:9/x' });
    const { text } = await ask('/videos');
    expect(text).toMatch(/^HTTP\/1\.1 302 /);
    expect(text).toContain('Location: http://127.0.0.1:9/x');
  });

  test('expired_address and second_put_refused refuse a PUT that would be taken', async () => {
    const { id, upload_url } = await service.create();
    await plan({ kind: 'expired_address', times: 1 }, { kind: 'second_put_refused', times: 1 });
    expect(await put(upload_url, clip)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect(await put(upload_url, clip)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    expect((await put(upload_url, clip)).status).toBe(200);
    expect((await service.ended(id)).status).toBe('ready');
  });

  test('a refused PUT with 100-continue costs no byte of the body', async () => {
    const { upload_url } = await service.create();
    await plan({ kind: 'expired_address' });
    const asking = request(upload_url, { method: 'PUT', headers: { expect: '100-continue', 'content-length': 1e9 } });
    let isAskedForBody = false;
    asking.on('continue', () => (isAskedForBody = true)).on('error', () => undefined);
    asking.flushHeaders();
    const status = await new Promise((resolve) => asking.on('response', (answer) => resolve(answer.statusCode)));
    asking.destroy();
    expect([status, isAskedForBody]).toEqual([403, false]);
  });

  test('a refused PUT without it is read for a while, so that the answer arrives', async () => {
    const { upload_url } = await service.create();
    await plan({ kind: 'status', status: 507, operation: 'uploads.put' });
    expect(await putStatus(upload_url, randomBytes(8 * 1024 * 1024))).toBe(507);
  });
});

describe('connections that are slow or break', () => {
  test('delay: done at once, answered later', async () => {
    await plan({ kind: 'delay', operation: 'videos.create', ms: 3_600_000, times: 1 });
    const before = await videos();
    const text = JSON.stringify({ title: 'Patience' });
    const asking = request(`${service.sandbox.baseUrl}/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.sandbox.apiKey}`, 'content-type': 'application/json' },
    });
    asking.on('error', () => undefined).end(text);
    await until(async () => ((await videos()) > before ? true : undefined));
    asking.destroy();
    await plan({ kind: 'delay', operation: 'videos.create', ms: 300 });
    const startedAt = performance.now(); // a lower bound, which a busy machine cannot break; the delay runs on the client's clock
    await service.create();
    expect(performance.now() - startedAt).toBeGreaterThan(290);
  });

  test('reset of the request before its first byte: nothing is done, with or without a body', async () => {
    const { id } = await service.create();
    await plan({ kind: 'reset', of: 'request', operation: 'videos.delete', times: 1 });
    expect(await ask(`/videos/${id}`, {}, 'DELETE')).toEqual({ text: '', end: 'ECONNRESET' });
    expect((await service.call('GET', `/videos/${id}`)).status).toBe(200);
  });

  test('slow_read reads a body no faster than its rate', async () => {
    const { id, upload_url } = await service.create();
    const bytes = Buffer.concat([clip, Buffer.alloc(10)]);
    await plan({ kind: 'slow_read', operation: 'uploads.put', bytes_per_second: bytes.length * 3 });
    const startedAt = performance.now();
    expect(await put(upload_url, bytes)).toMatchObject({ status: 200, body: { size: bytes.length } });
    expect(performance.now() - startedAt).toBeGreaterThan(250);
    expect(service.sandbox.files().find((file) => file.videoId === id)?.sizeBytes).toBe(bytes.length);
  });

  test.each([0, 5000])('stall of the request after %i bytes: no answer, and the client may go', async (afterBytes) => {
    const { id, upload_url } = await service.create();
    await plan({ kind: 'stall', of: 'request', after_bytes: afterBytes, operation: 'uploads.put', times: 1 });
    const stalled = request(upload_url, { method: 'PUT', headers: { 'content-length': clip.length } });
    let isAnswered = false;
    stalled.on('response', () => (isAnswered = true)).on('error', () => undefined);
    stalled.end(clip);
    await until(async () => ((await applied())[0] === 1 ? true : undefined));
    await service.call('GET', '/videos');
    expect(isAnswered).toBe(false);
    stalled.destroy();
    expect((await put(upload_url, clip)).status).toBe(200);
    expect((await service.ended(id)).status).toBe('ready');
  });

  test('stall of the answer: head and so many bytes, then nothing', async () => {
    await plan({ kind: 'stall', of: 'answer', after_bytes: 10, operation: 'channels.list' });
    const authorization = `Bearer ${service.sandbox.apiKey}`;
    const text = requestText('GET /v1/channels', { Authorization: authorization });
    const seen = await talk(service.sandbox.port, text, (so_far) => so_far.includes('\r\n\r\n{"data":[{'));
    const [head, body] = seen.text.split('\r\n\r\n');
    expect(body).toBe('{"data":[{');
    expect(Number(/content-length: (\d+)/i.exec(head ?? '')?.[1])).toBeGreaterThan(100);
  });

  test.each([0, 20_000])(
    'reset of the request after %i bytes: ECONNRESET, and the video stays pending',
    async (afterBytes) => {
      const { id, upload_url } = await service.create();
      await plan({ kind: 'reset', of: 'request', after_bytes: afterBytes, operation: 'uploads.put', times: 1 });
      const path = new URL(upload_url).pathname;
      const text = requestText(`PUT ${path}`, { 'Content-Length': 1e6 }, 'x'.repeat(100_000));
      expect(await talk(service.sandbox.port, text)).toEqual({ text: '', end: 'ECONNRESET' });
      expect((await service.call('GET', `/videos/${id}`)).body.data.status).toBe('pending');
      expect((await put(upload_url, clip)).status).toBe(200);
    },
  );

  test('reset of the answer: the client never gets all of it', async () => {
    await plan({ kind: 'reset', of: 'answer', after_bytes: 10, operation: 'channels.list' });
    const { text, end } = await ask('/channels');
    expect(end).toBe('ECONNRESET');
    expect(text).not.toContain(']}');
  });

  test('answer_lost: the upload is stored, but not answered', async () => {
    const { id, upload_url } = await service.create();
    await plan({ kind: 'answer_lost', operation: 'uploads.put' });
    await expect(put(upload_url, clip)).rejects.toThrow();
    expect((await service.ended(id)).status).toBe('ready');
  });

  test('drop_after_create: the video is there, and its address was never heard of', async () => {
    const before = await videos();
    await plan({ kind: 'drop_after_create' });
    const { text } = await ask('/videos', {}, 'POST', JSON.stringify({ title: 'Orphan' }));
    expect(text).toBe('');
    expect(await videos()).toBe(before + 1);
    expect((await service.call('GET', '/videos')).body.data[0]).toMatchObject({ title: 'Orphan', status: 'pending' });
  });
});

describe('wrong answers', () => {
  test('truncated_json', async () => {
    await plan({ kind: 'truncated_json' });
    await expect(service.call('GET', '/channels')).rejects.toThrow(SyntaxError);
  });

  test('wrong_content_type', async () => {
    await plan({ kind: 'wrong_content_type', content_type: 'text/plain' });
    const { headers, body } = await service.call('GET', '/channels');
    expect(headers.get('content-type')).toBe('text/plain');
    expect(body.data).toHaveLength(3);
  });

  test('unknown_status, in one video, in the list and on creation', async () => {
    const { id } = await service.create();
    await plan({ kind: 'unknown_status', status: 'archived' });
    expect((await service.call('GET', `/videos/${id}`)).body.data.status).toBe('archived');
    expect((await service.call('GET', '/videos')).body.data[0].status).toBe('archived');
    expect((await service.create()).status).toBe('archived');
  });

  test('extra_fields', async () => {
    await plan({ kind: 'extra_fields' });
    const { body } = await service.call('GET', '/channels');
    expect(Object.keys(body)).toContain('x_list');
    expect(body.data[0]).toMatchObject({ id: 'ch_main', x_text: 'new' });
  });

  test('they are for HEAD and errors too', async () => {
    await plan({ kind: 'extra_fields' });
    expect((await fetch(`${service.sandbox.baseUrl}/channels`, { method: 'HEAD' })).status).toBe(401);
    expect((await service.call('GET', '/videos/vid_nothere')).body).toMatchObject({
      error: { code: 'not_found' },
      x_text: 'new',
    });
  });
});

describe('processing', () => {
  test('stuck_processing never ends, not even when the clock runs ahead', async () => {
    await plan({ kind: 'stuck_processing', times: 1 });
    const { id, upload_url } = await service.create();
    await put(upload_url, clip);
    expect((await service.upload('clip.mp4')).status).toBe('ready');
    expect((await service.call('GET', `/videos/${id}`)).body.data.status).toBe('processing');
    expect(await applied()).toEqual([1]);
  });

  test('failed_processing gives its code and message', async () => {
    await plan({ kind: 'failed_processing', code: 'codec', message: 'Not this one.' });
    expect(await service.upload('clip.mp4')).toMatchObject({
      status: 'failed',
      error: { code: 'codec', message: 'Not this one.' },
    });
  });
});

describe('which requests are hit', () => {
  test('by video, also for its upload', async () => {
    const [one, other] = [await service.create(), await service.create()];
    await plan({ kind: 'status', status: 500, video_id: one.id });
    expect((await service.call('GET', `/videos/${one.id}`)).status).toBe(500);
    expect(await putStatus(one.upload_url)).toBe(500);
    expect((await service.call('GET', `/videos/${other.id}`)).status).toBe(200);
    expect((await put(other.upload_url, clip)).status).toBe(200);
  });

  test('by channel: of a video, of a feed, in the query, in the body of a new video', async () => {
    const { id } = await service.create({ channel_id: 'ch_news' });
    await plan({ kind: 'status', status: 500, channel_id: 'ch_news' });
    const statusOf = async (method: string, path: string, body?: object) =>
      (await service.call(method, path, body)).status;
    expect(await statusOf('GET', `/videos/${id}`)).toBe(500);
    expect(await statusOf('POST', '/feeds/feed_news/publish')).toBe(500);
    expect(await statusOf('POST', '/feeds/feed_main/publish')).toBe(200);
    expect(await statusOf('GET', '/videos?channel_id=ch_news')).toBe(500);
    expect(await statusOf('GET', '/videos?channel_id=ch_main')).toBe(200);
    expect(await statusOf('PATCH', '/channels/ch_news', { name: 'News' })).toBe(500);
    expect(await statusOf('POST', '/videos', { title: 'x', channel_id: 'ch_news' })).toBe(500);
    expect(await statusOf('POST', '/videos', { title: 'x', channel_id: 'ch_main' })).toBe(201);
    expect(await statusOf('POST', '/videos', { title: 'x'.repeat(300_000), channel_id: 'ch_main' })).toBe(422);
    const tooLong = JSON.stringify({ title: 'x'.repeat(3_000_000), channel_id: 'ch_main' });
    expect((await ask('/videos', {}, 'POST', tooLong)).text).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('a create that waits for 100-continue has to send its body when the channel matters', async () => {
    await plan({ kind: 'status', status: 500, channel_id: 'ch_news' });
    const body = JSON.stringify({ title: 'x', channel_id: 'ch_main' });
    const { sandbox } = service;
    const asking = request(`${sandbox.baseUrl}/videos`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${sandbox.apiKey}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    asking.on('continue', () => asking.end(body)).flushHeaders();
    expect(await new Promise((resolve) => asking.on('response', (answer) => resolve(answer.resume().statusCode)))).toBe(
      201,
    );
  });

  test('by nth call and number of times, counted for each operation of its own', async () => {
    await plan({ kind: 'status', status: 500, operation: 'channels.list', nth: 2, times: 2 });
    const statuses: number[] = [];
    for (let call = 1; call <= 5; call += 1) {
      await service.call('GET', '/feeds');
      statuses.push((await service.call('GET', '/channels')).status);
    }
    expect(statuses).toEqual([200, 500, 500, 200, 200]);
    expect((await admin(service, 'GET /faults')).body.data).toMatchObject([{ calls: 5, applied: 2 }]);
  });

  test('nothing but API and uploads', async () => {
    await plan({ kind: 'status', status: 500 });
    const origin = new URL(service.sandbox.baseUrl).origin;
    for (const path of ['/_sandbox/faults', '/', '/embed/x', '/nowhere', '/v1/nowhere'])
      expect((await fetch(origin + path)).status).not.toBe(500);
    expect(await applied()).toEqual([0]);
  });

  test('the journal names the fault that hit a request', async () => {
    await plan({ kind: 'drop_after_create', times: 1 });
    await ask('/videos', {}, 'POST', JSON.stringify({ title: 'Orphan' }));
    await service.call('GET', '/channels');
    expect(
      service.sandbox
        .requests()
        .filter(({ operation }) => operation !== 'unknown')
        .slice(-2),
    ).toMatchObject([
      { operation: 'videos.create', fault: 'drop_after_create', status: 0 },
      { operation: 'channels.list', fault: null, status: 200 },
    ]);
  });
});

test('a fault with a time to live expires', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  await using other = await runSandbox({ nowMs: () => nowMs });
  await planFaults(other, { kind: 'html_502', ttl_ms: 1000 });
  expect((await fetch(`${other.sandbox.baseUrl}/videos`)).status).toBe(502);
  nowMs += 1000;
  expect((await other.call('GET', '/videos')).status).toBe(200);
  expect((await admin(other, 'GET /faults')).body.data).toEqual([]);
});

test('with an upload port of its own the uploads are hit there', async () => {
  await using other = await runSandbox({ uploadOrigin: 'separate' });
  const { upload_url } = await other.create();
  await planFaults(other, { kind: 'second_put_refused' });
  expect((await put(upload_url, clip)).status).toBe(409);
});

test('closing the sandbox ends stalled requests', async () => {
  const other = new RunningSandbox(await startSandbox());
  const { upload_url } = await other.create();
  await planFaults(
    other,
    { kind: 'delay', ms: 600_000, operation: 'channels.list' },
    { kind: 'stall', of: 'answer', operation: 'feeds.list' },
    { kind: 'stall', of: 'request', operation: 'uploads.put' },
    { kind: 'slow_read', bytes_per_second: 1, operation: 'videos.create' },
  );
  const hung = [
    other.call('GET', '/channels'),
    other.call('GET', '/feeds'),
    put(upload_url, clip),
    other.call('POST', '/videos', { title: 'x' }),
  ].map((call) =>
    call.then(
      () => 'answered',
      () => 'cut',
    ),
  );
  await until(async () => ((await appliedFaults(other)).every((times) => times === 1) ? true : undefined));
  await other.sandbox.close();
  expect(await Promise.all(hung)).toEqual(Array(4).fill('cut'));
});

describe('the admin side of faults', () => {
  test('adds, lists, replaces and removes', async () => {
    const added = await admin(service, 'POST /faults', { kind: 'delay', ms: 5, ttl_ms: 60_000 });
    expect(added).toMatchObject({
      status: 201,
      body: {
        data: { id: expect.stringMatching(/^fault_\d+$/), kind: 'delay', operation: '*', ms: 5, calls: 0, applied: 0 },
      },
    });
    expect(Date.parse(added.body.data.expires_at)).toBeGreaterThan(Date.now());
    const { id } = added.body.data;
    expect((await admin(service, 'GET /faults')).body.data).toEqual([added.body.data]);
    expect((await admin(service, `DELETE /faults/${id}`)).status).toBe(204);
    expect(await admin(service, `DELETE /faults/${id}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
    await admin(service, 'PUT /faults', [{ kind: 'html_502' }, { kind: 'answer_lost' }]);
    expect((await admin(service, 'DELETE /faults')).status).toBe(204);
    expect((await admin(service, 'GET /faults')).body.data).toEqual([]);
  });

  test.each([
    [{ kind: 'delay', ms: 5, tiems: 2 }, 'tiems'],
    [{ kind: 'explode' }, 'kind: must be a kind of fault'],
    [{ kind: 'delay' }, 'ms: must be an integer from 0 to 3600000'],
    [{ kind: 'html_502', operation: 'videos.steal' }, 'operation: must be *, uploads.put, videos.list'],
    [{ kind: 'drop_after_create', operation: 'videos.list' }, 'must be videos.create, the only operation'],
    [{ kind: 'stall', after_bytes: 3 }, 'of: must be request or answer'],
  ])('refuses %j with a sentence', async (rule, sentence) => {
    const { status, body } = await admin(service, 'POST /faults', rule);
    expect([status, body.error.code]).toEqual([422, 'invalid_request']);
    expect(body.error.message).toContain(sentence);
  });

  test('replaces all or nothing', async () => {
    await plan({ kind: 'html_502' });
    expect((await admin(service, 'PUT /faults', [{ kind: 'answer_lost' }, { kind: 'explode' }])).status).toBe(422);
    expect((await admin(service, 'GET /faults')).body.data).toMatchObject([{ kind: 'html_502' }]);
  });
});
