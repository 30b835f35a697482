import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../../packages/sandbox/src/sandbox.ts';
import {
  defaultSwitches,
  openPoints,
  profiles,
  switchNames,
} from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { parseSwitch } from '../../../packages/sandbox/src/profiles/switchboard.ts';
import { readSample, type Json } from '../running-sandbox.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ processingMs: { min: 0, max: 0 } });
});
afterAll(() => sandbox.close());
beforeEach(() => admin('POST', '/reset'));

async function admin(method: string, path: string, json?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${sandbox.adminToken}`, 'content-type': 'application/json' };
  return await fetch(sandbox.adminUrl + path, { method, headers, ...(json && { body: JSON.stringify(json) }) });
}

/** Status, body (JSON where it is) and headers of an answer, in one line of values. */
async function call(method: string, path: string, json?: object, more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json', ...more };
  const answer = await fetch(sandbox.baseUrl + path, { method, headers, ...(json && { body: JSON.stringify(json) }) });
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  const body: Json = isJson && text !== '' ? JSON.parse(text) : text;
  return { status: answer.status, body, headers: answer.headers };
}

async function set(switches: object): Promise<void> {
  expect((await admin('POST', '/profile/switches', switches)).status).toBe(200);
}

const create = async (fields: object = {}, headers = {}) =>
  call('POST', '/videos', { title: 'T', channel_id: 'ch_news', ...fields }, headers);
async function ready(): Promise<{ id: string; url: string; put: (name?: string) => Promise<Response> }> {
  const { body } = await create();
  const bytes = await readSample('clip.mp4');
  const put = () => fetch(body.upload_url, { method: 'PUT', body: bytes, redirect: 'manual' });
  return { id: body.id, url: body.upload_url, put };
}

describe('a switch', () => {
  test.each([
    ['201', 201],
    ['200', 200],
    ['202', 202],
  ])('create_status=%s', async (value, status) => {
    await set({ create_status: value });
    expect((await create()).status).toBe(status);
  });

  test('create_body, get_body and list_body wrap or bare', async () => {
    const { body } = await create();
    await set({ create_body: 'wrapped', get_body: 'bare', list_body: 'bare' });
    expect((await create()).body).toMatchObject({ data: { status: 'pending' } });
    expect((await call('GET', `/videos/${body.id}`)).body).toMatchObject({ id: body.id, title: 'T' });
    expect((await call('GET', '/videos')).body).toHaveLength(2);
    expect((await call('GET', '/channels')).body).toHaveLength(3);
  });

  test('get_fields', async () => {
    const { body } = await create();
    await set({ get_fields: 'minimal' });
    expect((await call('GET', `/videos/${body.id}`)).body).toEqual({ data: { id: body.id, status: 'pending' } });
    await set({ get_fields: 'list' });
    const fields = Object.keys((await call('GET', `/videos/${body.id}`)).body.data);
    expect(fields.toSorted()).toEqual([
      'created_at',
      'duration',
      'embed_url',
      'id',
      'status',
      'thumbnail_url',
      'title',
    ]);
  });

  describe('rate_limit_headers', () => {
    const headersOf = async (value: string, names: readonly string[]): Promise<readonly (string | null)[]> => {
      await admin('PUT', '/rate-limit', { requests_per_hour: 100 });
      await set({ rate_limit_headers: value });
      await call('GET', '/channels');
      const { headers } = await call('GET', '/channels');
      return names.map((name) => headers.get(name));
    };

    test.each([
      ['none', ['ratelimit', 'x-ratelimit-remaining'], [null, null]],
      ['draft', ['ratelimit-policy', 'ratelimit'], ['"hour";q=100;w=3600', '"hour";r=98;t=3600']],
      ['dictionary', ['ratelimit-policy', 'ratelimit'], ['100;w=3600', 'limit=100, remaining=98, reset=3600']],
      ['seconds', ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'], ['100', '98', '3600']],
      [
        'epoch',
        ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'date'],
        ['100', '98', '1893502800', 'Tue, 01 Jan 2030 12:00:00 GMT'],
      ],
      ['epoch_ms', ['x-ratelimit-remaining', 'x-ratelimit-reset'], ['98', '1893502800000']],
      ['date', ['x-ratelimit-remaining', 'x-ratelimit-reset'], ['98', '2030-01-01T13:00:00.000Z']],
      [
        'window_ms',
        ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-window', 'x-ratelimit-reset'],
        ['100', '98', '3600000', null],
      ],
    ] as const)('=%s', async (value, names, values) => {
      await admin('PUT', '/clock', { now: '2030-01-01T12:00:00Z', frozen: true });
      expect(await headersOf(value, names)).toEqual(values);
    });

    test('come with a 429 too, and then say when there is room again', async () => {
      await set({ rate_limit_headers: 'seconds' });
      await admin('PUT', '/rate-limit', { requests_per_hour: 1 });
      await call('GET', '/channels');
      const { status, headers } = await call('GET', '/channels');
      expect([status, headers.get('ratelimit-remaining')]).toEqual([429, '0']);
      expect(headers.get('ratelimit-reset')).toBe(headers.get('retry-after'));
    });
  });

  test('request_id: every answer of the API has one of its own, errors too', async () => {
    expect((await call('GET', '/channels')).headers.get('x-request-id')).toBeNull();
    await set({ request_id: 'x_request_id' });
    const answers = [await call('GET', '/channels'), await create(), await call('GET', '/videos/vid_none')];
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^[\da-f-]{36}$/)));
    expect(new Set(ids).size).toBe(3);
  });

  test('conditional_reads: 304 until what was read changes', async () => {
    const { body } = await create();
    await set({ conditional_reads: 'etag' });
    const read = async (known: string) => {
      const headers = { Authorization: `Bearer ${sandbox.apiKey}`, 'If-None-Match': known };
      const answer = await fetch(`${sandbox.baseUrl}/videos/${body.id}`, { headers });
      return { status: answer.status, etag: answer.headers.get('etag') ?? '', text: await answer.text() };
    };
    const first = await read('"other"');
    expect(first).toMatchObject({ status: 200, etag: expect.stringMatching(/^"[\w-]{27}"$/) });
    expect(await read(`"other", W/${first.etag}`)).toEqual({ status: 304, etag: first.etag, text: '' });
    await call('PATCH', `/videos/${body.id}`, { title: 'Changed' });
    expect(await read(first.etag)).toMatchObject({ status: 200, etag: expect.not.stringMatching(first.etag) });
  });

  test('rate_limit=burst: 50 requests in ten seconds, in addition to those of the hour', async () => {
    await set({ rate_limit: 'burst', rate_limit_headers: 'draft' });
    const answers = await Promise.all(Array.from({ length: 51 }, () => call('GET', '/channels')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(1);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeLessThanOrEqual(10);
    expect(refused[0]?.headers.get('ratelimit-policy')).toBe('"hour";q=1000;w=3600, "burst";q=50;w=10');
    expect(refused[0]?.headers.get('ratelimit')).toMatch(/^"hour";r=950;t=\d+, "burst";r=0;t=\d+$/);
    await admin('POST', '/clock/advance', { by: '10s' });
    expect((await call('GET', '/channels')).status).toBe(200);
  });

  test('unknown fields and parameters are refused or ignored', async () => {
    expect((await create({ colour: 'red' })).status).toBe(422);
    expect((await call('GET', '/videos?sort=asc')).status).toBe(422);
    expect((await call('GET', '/channels?sort=asc')).status).toBe(422);
    await set({ unknown_fields: 'ignore', unknown_parameters: 'ignore' });
    expect((await create({ colour: 'red' })).status).toBe(201);
    expect((await create({ colour: 'red', title: 5 })).status).toBe(422);
    expect((await call('GET', '/videos?sort=asc')).status).toBe(200);
    expect((await call('GET', '/channels?sort=asc')).status).toBe(200);
  });

  test('per_page_over_100 and list_order', async () => {
    const ids = [(await create()).body.id, (await create()).body.id, (await create()).body.id];
    expect((await call('GET', '/videos?per_page=500')).status).toBe(422);
    await set({ per_page_over_100: 'clamp' });
    expect((await call('GET', '/videos?per_page=500')).body.meta.per_page).toBe(100);
    const listed = async (page: number) =>
      (await call('GET', `/videos?per_page=2&page=${page}`)).body.data.map(({ id }: { id: string }) => id);
    expect([...(await listed(1)), ...(await listed(2))]).toEqual(ids.toReversed());
    await set({ list_order: 'oldest' });
    expect([...(await listed(1)), ...(await listed(2)), ...(await listed(3))]).toEqual(ids);
  });

  test('update_answer and delete_answer and second_delete', async () => {
    const { body } = await create();
    const update = () => call('PATCH', `/videos/${body.id}`, { title: 'New' });
    await set({ update_answer: 'partial' });
    expect((await update()).body.data).toEqual({ id: body.id, title: 'New', description: null, tags: [] });
    await set({ update_answer: 'empty', delete_answer: '200', second_delete: '204' });
    expect(await update()).toMatchObject({ status: 204, body: '' });
    expect(await call('DELETE', `/videos/${body.id}`)).toMatchObject({ status: 200, body: { deleted: true } });
    await set({ delete_answer: '204' });
    expect((await call('DELETE', `/videos/${body.id}`)).status).toBe(204);
    await set({ second_delete: '404' });
    expect((await call('DELETE', `/videos/${body.id}`)).status).toBe(404);
  });

  test.each([
    ['201', 201, /sha256/],
    ['204', 204, /^$/],
  ])('upload_status=%s', async (value, status, body) => {
    await set({ upload_status: value });
    const answer = await (await ready()).put();
    expect(answer.status).toBe(status);
    expect(await answer.text()).toMatch(body);
  });

  test.each([
    ['409', 409],
    ['404', 404],
    ['200', 200],
  ])('second_put=%s', async (value, status) => {
    await set({ second_put: value });
    const { put, id } = await ready();
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(status);
    expect((await call('GET', `/videos/${id}`)).body.data.status).toMatch(/ready|processing/);
  });

  test.each([
    ['403', 403],
    ['404', 404],
    ['410', 410],
  ])('expired_address=%s', async (value, status) => {
    await set({ expired_address: value });
    const { put } = await ready();
    await admin('POST', '/clock/advance', { by: '2h' });
    expect((await put()).status).toBe(status);
  });

  test.each(['upload_headers', 'required_headers', 'headers'])(
    'upload_headers=%s: the answer names headers, and an upload without them is refused',
    async (value) => {
      await set({ upload_headers: value });
      const { body } = await create();
      const told = value === 'headers' ? body.headers.map(({ name, value: is }: Json) => [name, is]) : body[value];
      const headers = new Headers(told);
      expect([...headers.keys()]).toEqual(['content-type', 'x-upload-signature']);
      const put = async (given: Headers | Record<string, string> | [string, string][]) =>
        fetch(body.upload_url, { method: 'PUT', headers: given, body: await readSample('clip.mp4') });
      for (const name of headers.keys()) {
        const without = new Headers(headers);
        without.delete(name);
        const answer = await put(without);
        expect(answer.status).toBe(403);
        expect(await answer.text()).toMatch(/^<\?xml.*<Code>SignatureDoesNotMatch</s);
      }
      expect((await put(headers)).status).toBe(200);
      expect((await create()).body).not.toMatchObject({ [value]: body[value] });
    },
  );

  test('upload_headers=without_type: an upload with a Content-Type is refused, and nothing says so before', async () => {
    await set({ upload_headers: 'without_type', error_body: 'html' });
    const { body } = await create();
    expect(Object.keys(body)).toEqual(['id', 'upload_url', 'status']);
    const put = async (headers: Headers | Record<string, string> | [string, string][]) =>
      fetch(body.upload_url, { method: 'PUT', headers, body: await readSample('clip.mp4') });
    const refused = await put({ 'content-type': 'video/mp4' });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')]);
    expect((await put({})).status).toBe(200);
  });

  test.each([
    ['quota_reached', 403],
    ['daily_limit_reached', 429],
    ['insufficient_storage', 507],
  ])(
    'daily_videos=%s: the seventh video of a day is refused with %i, and all else is answered as usual',
    async (code, status) => {
      await set({ daily_videos: code });
      const { id } = await ready();
      for (let n = 1; n < 6; n += 1) expect((await create()).status).toBe(201);
      const refused = await create();
      expect([refused.status, refused.body.error.code]).toEqual([status, code]);
      expect(Number(refused.headers.get('retry-after') ?? 0) > 0).toBe(status === 429);
      expect((await call('GET', `/videos/${id}`)).status).toBe(200);
      sandbox.setClock(new Date(Date.now() + 24 * 60 * 60_000));
      expect((await create()).status).toBe(201);
    },
  );

  test.each(['413', '400', 'entity_too_large'])(
    'max_upload_size=%s: a file of more than 2 MiB is refused before its body, and a smaller one is taken',
    async (form) => {
      await set({ max_upload_size: form });
      const { body } = await create();
      const put = (file: Uint8Array<ArrayBuffer>) => fetch(body.upload_url, { method: 'PUT', body: file });
      const refused = await put(new Uint8Array(2 * 1024 ** 2 + 1));
      expect(refused.status).toBe(form === '413' ? 413 : 400);
      const says = {
        '413': /^<html>.*413/,
        '400': /maximum of 2 MiB/,
        entity_too_large: /^<\?xml.*<Code>EntityTooLarge/s,
      };
      expect(await refused.text()).toMatch(says[form as keyof typeof says]);
      expect((await put(await readSample('clip.mp4'))).status).toBe(200);
    },
  );

  test('max_upload_size counts the whole file of a resumable upload', async () => {
    const tooLarge = 2 * 1024 ** 2 + 1;
    const file = { method: 'PATCH', body: new Uint8Array(10) };
    await set({ max_upload_size: '413', upload_protocol: 'tus' });
    const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
    const part = { ...file, headers: { ...tus, 'upload-length': String(tooLarge) } };
    expect((await fetch((await create()).body.upload_url, part)).status).toBe(413);
    await set({ max_upload_size: '413', upload_protocol: 'content_range' });
    const range = { ...file, method: 'PUT', headers: { 'content-range': `bytes 0-9/${tooLarge}` } };
    expect((await fetch((await create()).body.upload_url, range)).status).toBe(413);
  });

  test('upload_redirect leads to an address that takes the file', async () => {
    await set({ upload_redirect: '307' });
    const { url, put, id } = await ready();
    const answer = await put();
    expect(answer.status).toBe(307);
    const next = new URL(answer.headers.get('location') ?? '', url);
    expect((await call('GET', `/videos/${id}`)).body.data.status).toBe('pending');
    expect((await fetch(next, { method: 'PUT', body: await readSample('clip.mp4') })).status).toBe(200);
  });

  test('processing_word', async () => {
    await admin('PUT', '/faults', [{ kind: 'stuck_processing' }]);
    const { put, id } = await ready();
    await put();
    for (const word of ['transcoding', 'pending']) {
      await set({ processing_word: word });
      expect((await call('GET', `/videos/${id}`)).body.data.status).toBe(word);
      expect((await call('GET', '/videos')).body.data[0].status).toBe(word);
    }
  });

  test('publish_answer', async () => {
    const publish = () => call('POST', '/feeds/feed_news/publish');
    await set({ publish_answer: 'queued' });
    expect(await publish()).toMatchObject({ status: 202, body: { feed_id: 'feed_news', status: 'queued' } });
    await set({ publish_answer: 'wrapped' });
    expect((await publish()).body.data).toMatchObject({ status: 'published', video_count: 0 });
    await set({ publish_answer: 'empty' });
    expect(await publish()).toMatchObject({ status: 204, body: '' });
  });

  test('error_body and invalid_status', async () => {
    const wrong = () => call('GET', '/videos/vid_none');
    await set({ error_body: 'message' });
    expect((await wrong()).body).toEqual({ message: 'There is no such video.' });
    await set({ error_body: 'problem' });
    expect((await wrong()).headers.get('content-type')).toBe('application/problem+json');
    expect((await wrong()).body).toMatchObject({ status: 404, detail: 'There is no such video.' });
    await set({ error_body: 'text' });
    expect((await wrong()).body).toBe('There is no such video.');
    await set({ error_body: 'html', invalid_status: '400' });
    expect((await wrong()).body).toContain('<h1>404</h1>');
    expect((await create({ title: 5 })).status).toBe(400);
  });

  test('retry_after', async () => {
    await admin('PUT', '/rate-limit', { requests_per_hour: 1 });
    await call('GET', '/channels');
    await set({ retry_after: 'date' });
    const dated = await call('GET', '/channels');
    const ms = Date.parse(dated.headers.get('retry-after') ?? '') - Date.parse(dated.headers.get('date') ?? '');
    expect([dated.status, ms > 3_000_000 && ms <= 3_601_000]).toEqual([429, true]);
    await set({ retry_after: 'absent' });
    expect((await call('GET', '/channels')).headers.get('retry-after')).toBe(null);
    await admin('PUT', '/rate-limit', { requests_per_hour: 1000 });
  });

  test('idempotency_key', async () => {
    const key = { 'idempotency-key': 'k1' };
    const ids = async () => [(await create({}, key)).body.id, (await create({}, key)).body.id];
    expect(new Set(await ids()).size).toBe(2);
    await set({ idempotency_key: 'honoured' });
    expect(new Set(await ids()).size).toBe(1);
  });

  test('averages_without_views and extra_fields', async () => {
    const { body } = await create();
    await set({ averages_without_views: 'null', extra_fields: 'yes' });
    const figures = (await call('GET', `/analytics/videos?video_id=${body.id}`)).body.data;
    expect(figures).toMatchObject({ views: 0, avg_watch_time_seconds: null, completion_rate: null });
    expect(figures.x_added).toMatchObject({ words: ['new'] });
  });
});

describe('profiles', () => {
  test('are chosen while the service runs, with single switches in addition, until a reset', async () => {
    const answer = await admin('PUT', '/profile', { profile: 'lenient', switches: { create_status: '202' } });
    expect(await answer.json()).toMatchObject({
      data: {
        profile: 'lenient',
        set: { create_status: '202' },
        switches: { second_put: '200', create_status: '202' },
      },
    });
    expect((await create()).status).toBe(202);
    await admin('POST', '/reset');
    const { data } = (await (await admin('GET', '/profile')).json()) as { data: { switches: object; points: object } };
    expect(data.switches).toEqual(defaultSwitches);
    expect(Object.keys(data.points)).toEqual(switchNames);
  });

  test.each([
    [{ profile: 'no-such' }, 'must be one of default'],
    [{ switches: { create_status: '299' } }, 'must be one of 201, 200, 202'],
    [{ switches: { no_such: 'x' } }, 'unknown field'],
  ])('%j is refused with what there is', async (body, why) => {
    const answer = await admin('PUT', '/profile', body);
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain(why);
  });

  test('name only switches and values that there are', () => {
    for (const set of Object.values(profiles))
      for (const [name, value] of Object.entries(set))
        expect(parseSwitch(`${name}=${value}`)).toEqual({ [name]: value });
    expect(() => parseSwitch('nothing=1')).toThrow(/expected one of unknown_fields/);
    expect(() => parseSwitch('create_status=1')).toThrow('create_status takes 201, 200, 202');
  });

  test('together use every value that is not a default', () => {
    const used = new Set(
      Object.values(profiles).flatMap((set) => Object.entries(set).map(([name, value]) => `${name}=${value}`)),
    );
    const others = switchNames.flatMap((name) => openPoints[name].values.slice(1).map((value) => `${name}=${value}`));
    expect(others.filter((each) => !used.has(each))).toEqual([]);
  });
});
