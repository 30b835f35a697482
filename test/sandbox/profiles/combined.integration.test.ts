import { request as requestHttp } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Switches } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { parseSwitch } from '../../../packages/sandbox/src/profiles/switchboard.ts';
import { startSandbox, type Sandbox } from '../../../packages/sandbox/src/sandbox.ts';
import { admin } from '../admin/admin-side.ts';
import { readSample, type Json } from '../running-sandbox.ts';

let sandbox: Sandbox;
let clip: Buffer<ArrayBuffer>;
beforeAll(async () => {
  sandbox = await startSandbox({ processingMs: { min: 0, max: 0 } });
  clip = await readSample('clip.mp4');
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

async function set(switches: Partial<Switches>): Promise<void> {
  expect((await admin({ sandbox }, 'POST /profile/switches', switches)).status).toBe(200);
}

async function call(method: string, path: string, json?: object, more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json', ...more };
  const answer = await fetch(sandbox.baseUrl + path, { method, headers, ...(json && { body: JSON.stringify(json) }) });
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  const body: Json = isJson && text !== '' ? JSON.parse(text) : text;
  return { status: answer.status, body, headers: answer.headers };
}

const create = async (more: Record<string, string> = {}): Promise<{ id: string; upload_url: string }> =>
  (await call('POST', '/videos', { title: 'T', channel_id: 'ch_news' }, more)).body;

const put = (url: string) => fetch(url, { method: 'PUT', body: clip, redirect: 'manual' });

/** Sends half of the file, does something, and sends the rest. @returns the status */
async function putAround(url: string, work: () => Promise<unknown>): Promise<number | undefined> {
  const request = requestHttp(url, {
    method: 'PUT',
    headers: { 'content-length': clip.length, expect: '100-continue' },
  });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    request.on('error', reject).on('response', (answer) => resolve(answer.resume().statusCode));
  });
  await new Promise((resolve) => request.once('continue', resolve).flushHeaders());
  request.write(clip.subarray(0, 1000));
  await work();
  request.end(clip.subarray(1000));
  return answered;
}

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'k1' };

  test('is forgotten by a reset, whose videos are others', async () => {
    await set({ idempotency_key: 'honoured' });
    const before = await create(key);
    await sandbox.reset();
    await set({ idempotency_key: 'honoured' });
    const after = await create(key);
    expect(after.upload_url).not.toBe(before.upload_url);
    expect((await put(after.upload_url)).status).toBe(200);
  });

  test('is forgotten when a snapshot is restored', async () => {
    await set({ idempotency_key: 'honoured' });
    await sandbox.snapshots.save('empty');
    await create(key);
    await sandbox.snapshots.restore('empty');
    const { id } = await create(key);
    expect((await call('GET', `/videos/${id}`)).status).toBe(200);
  });
});

describe('second_put', () => {
  test.each([
    ['200', [200, 200, 200]],
    ['404', [200, 404, 404]],
    ['409', [200, 409, 409]],
  ] as const)('%s also answers files that arrive at the same time', async (value, statuses) => {
    await set({ second_put: value });
    const { upload_url: url } = await create();
    const answers = await Promise.all([put(url), put(url), put(url)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual(statuses);
    expect(sandbox.files()).toHaveLength(1);
  });

  test('200 is no answer for a video that was deleted during the upload', async () => {
    await set({ second_put: '200' });
    const { id, upload_url: url } = await create();
    expect(await putAround(url, () => call('DELETE', `/videos/${id}`))).toBe(410);
    const next = await create();
    expect(await putAround(next.upload_url, () => sandbox.reset())).toBe(410);
  });

  test('counts as it is when the file has arrived', async () => {
    await set({ second_put: '409' });
    const { upload_url: url } = await create();
    const both = async () => {
      await put(url);
      await set({ second_put: '200' });
    };
    expect(await putAround(url, both)).toBe(200);
  });
});

describe('ignored', () => {
  test('are unknown fields of a publish too', async () => {
    const publish = () => call('POST', '/feeds/feed_news/publish', { colour: 'red' });
    expect((await publish()).status).toBe(422);
    await set({ unknown_fields: 'ignore' });
    expect((await publish()).status).toBe(200);
  });

  test('are unknown parameters that come twice, but no known ones', async () => {
    await set({ unknown_parameters: 'ignore' });
    expect((await call('GET', '/videos?a=1&a=2&page=1')).status).toBe(200);
    expect((await call('GET', '/channels?a=1&a=2')).status).toBe(200);
    expect((await call('GET', '/videos?page=1&page=1')).status).toBe(422);
  });
});

describe('the form of answers', () => {
  test('is that of every error of the API and of uploads, and of no other', async () => {
    const { upload_url: url } = await create();
    await set({ error_body: 'message' });
    const message = { message: expect.any(String) };
    expect((await call('GET', '/no-such')).body).toEqual(message);
    expect((await call('PUT', '/videos')).body).toEqual(message);
    expect(await (await fetch(url)).json()).toEqual(message);
    expect((await admin({ sandbox }, 'GET /no-such')).body).toHaveProperty('error.code', 'not_found');
    const feed = await fetch(new URL('/feeds/none.xml', sandbox.adminUrl));
    expect(await feed.json()).toHaveProperty('error.code', 'not_found');
  });

  test('leaves the player settings of a client as they are', async () => {
    const settings = { status: 'processing', views: 0, list: [{ a: 1 }] };
    await set({ processing_word: 'transcoding', extra_fields: 'yes' });
    const { body } = await call('PATCH', '/channels/ch_news', { default_player_settings: settings });
    expect(body.data.default_player_settings).toEqual(settings);
    expect(body.data).toHaveProperty('x_added');
  });

  test('is no body for HEAD, and no length of one', async () => {
    const { id } = await create();
    const head = async () => {
      const { status, headers } = await call('HEAD', `/videos/${id}`);
      return [status, headers.get('content-type'), headers.get('content-length')];
    };
    const before = await head();
    await set({ extra_fields: 'yes', get_fields: 'minimal' });
    expect(await head()).toEqual(before);
  });

  test('has a Retry-After date at which the next request is admitted', async () => {
    await admin({ sandbox }, 'PUT /rate-limit', { requests_per_hour: 1 });
    sandbox.setClock('2100-01-01T00:00:00.900Z');
    await call('GET', '/channels');
    await set({ retry_after: 'date' });
    const { headers } = await call('GET', '/channels');
    sandbox.setClock(new Date(headers.get('retry-after') ?? ''));
    expect((await call('GET', '/channels')).status).toBe(200);
  });
});

test('a switch that is given as undefined has its default', async () => {
  const switches = JSON.parse('{}') as Partial<Switches>;
  Object.assign(switches, { create_status: undefined, error_body: 'message' });
  await using other = await startSandbox({ switches });
  const { data } = (await admin({ sandbox: other }, 'GET /profile')).body;
  expect([data.switches.create_status, data.switches.error_body]).toEqual(['201', 'message']);
});

test('a switch on the command line has one value', () => {
  expect(() => parseSwitch('create_status=202=x')).toThrow('create_status takes 201, 200, 202');
});
