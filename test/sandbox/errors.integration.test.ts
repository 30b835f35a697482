import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, type Answer, type RunningSandbox } from './running-sandbox.ts';

let service: RunningSandbox;
beforeAll(async () => {
  service = await runSandbox({ requestsPerHour: 1_000_000 });
});
afterAll(() => service.sandbox.close());

/** Sends bytes that no HTTP client would, and returns all that comes back. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(service.sandbox.port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

const authorized = () => `Authorization: Bearer ${service.sandbox.apiKey}\r\nConnection: close\r\n`;

describe('errors (7)', () => {
  test.each([
    ['GET', '/nowhere', 404, 'not_found'],
    ['GET', '/videos/', 404, 'not_found'],
    ['GET', '/videos/%zz', 404, 'not_found'],
    ['GET', '/videos/..%2f..%2fetc', 404, 'not_found'],
    ['PUT', '/videos', 405, 'method_not_allowed'],
    ['GET', '/feeds/feed_news/publish', 405, 'method_not_allowed'],
  ])('7 %s %s is %i %s', async (method, path, status, code) => {
    const answer = await service.call(method, path);
    expect(answer).toMatchObject({ status, body: { error: { code, message: expect.any(String) } } });
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test('paths that nothing serves are 404 without a key', async () => {
    const response = await fetch(new URL('/nothing', service.sandbox.baseUrl));
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });

  test('405 and OPTIONS list the methods in Allow; HEAD is GET without a body', async () => {
    expect((await service.call('PUT', '/videos')).headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
    expect(await service.call('OPTIONS', '/videos/x')).toMatchObject({ status: 204, body: undefined });
    const head = await service.call('HEAD', '/videos');
    expect(head).toMatchObject({ status: 200, body: undefined });
    expect((await service.call('HEAD', '/videos/x')).status).toBe(404);
  });

  test.each([
    ['no body', undefined, 'application/json', 400, 'bad_request'],
    ['broken JSON', '{"title":', 'application/json', 400, 'bad_request'],
    [
      'a title that only looks long',
      '{"title":{"length":{"toString":""}}}',
      'application/json',
      422,
      'invalid_request',
    ],
    [
      'tags that only look long',
      '{"title":"x","tags":{"length":{"toString":""}}}',
      'application/json',
      422,
      'invalid_request',
    ],
    ['a form', 'title=x', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
    ['JSON sent as text', '{"title":"x"}', 'text/plain', 415, 'unsupported_media_type'],
    [
      'more than 1 MiB',
      JSON.stringify({ title: 'x'.repeat(1024 * 1024) }),
      'application/json',
      413,
      'payload_too_large',
    ],
  ])('a POST with %s is refused', async (_what, body, type, status, code) => {
    const answer = await service.call('POST', '/videos', body, { 'content-type': type });
    expect(answer).toMatchObject({ status, body: { error: { code } } });
  });

  test('a body that is not UTF-8 is refused', async () => {
    const headers = { authorization: `Bearer ${service.sandbox.apiKey}`, 'content-type': 'application/json' };
    const body = Buffer.from('{"title":"caf\xe9"}', 'latin1');
    expect((await fetch(`${service.sandbox.baseUrl}/videos`, { method: 'POST', headers, body })).status).toBe(400);
  });

  test('refuses a body that is too large without a Content-Length too', async () => {
    const chunk = 'x'.repeat(64 * 1024);
    const body = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(17);
    const head = `POST /v1/videos HTTP/1.1\r\nHost: localhost\r\n${authorized()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await raw(`${head}${body}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['no Host', 'GET /v1/videos HTTP/1.1\r\nConnection: close\r\n\r\n', 421],
    ['a foreign Host', 'GET /v1/videos HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', 421],
    ['a target that is no path', 'GET ?? HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    ['huge headers', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\n\r\n', 417],
  ])('%s is answered in the error form', async (_what, bytes, status) => {
    const answer = await raw(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code: expect.any(String) } });
  });

  test('HEAD with huge headers is refused without a body, which would look like the next answer', async () => {
    const answer = await raw(`HEAD / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 [^]*\r\n\r\n$/);
  });

  test('a client that disconnects in the middle of a body causes no defect', async () => {
    const socket = connect(service.sandbox.port, '127.0.0.1');
    const before = service.sandbox.requests().length;
    socket.write(
      `POST /v1/videos HTTP/1.1\r\nHost: localhost\r\n${authorized()}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
    );
    await expect.poll(() => service.sandbox.requests().length, { timeout: 25_000 }).toBeGreaterThan(before);
    socket.destroy();
    expect((await service.call('GET', '/videos')).status).toBe(200);
  });
});

describe('whatever comes', () => {
  const inForm = ({ status, body }: Answer) => {
    if (status < 400) return;
    expect(status).toBeLessThan(500);
    expect(body).toEqual({ error: { code: expect.stringMatching(/^[a-z_]+$/), message: expect.stringMatching(/./) } });
  };
  const text = () => fc.string({ unit: 'binary', maxLength: 12 });
  const fields = fc.record(
    {
      title: fc.oneof(text(), fc.jsonValue()),
      description: fc.oneof(text(), fc.jsonValue()),
      channel_id: fc.oneof(fc.constantFrom('ch_main', 'ch_news'), text(), fc.jsonValue()),
      tags: fc.oneof(fc.array(text()), fc.jsonValue()),
      name: fc.oneof(text(), fc.jsonValue()),
      default_player_settings: fc.jsonValue(),
      ['__proto__']: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    fields.map((value) => JSON.stringify(value)),
    fc.json(),
    text(),
  );
  const requests = fc.constantFrom(
    ['POST', '/videos'],
    ['PATCH', '/videos/vid_x'],
    ['PATCH', '/channels/ch_main'],
    ['POST', '/feeds/feed_main/publish'],
  );

  test('7 no body leads to a 500, and every refusal is in the error form', async () => {
    await fc.assert(
      fc.asyncProperty(requests, body, async ([method = '', path = ''], sent) => {
        inForm(await service.call(method, path, sent));
      }),
      { numRuns: 200 },
    );
  });

  test('7 no path and no query leads to a 500, and every refusal is in the error form', async () => {
    const parameter = fc.tuple(
      fc.constantFrom('page', 'per_page', 'channel_id', 'status', 'x'),
      fc.oneof(text(), fc.nat().map(String)),
    );
    const query = fc
      .array(parameter, { maxLength: 3 })
      .map((pairs) => pairs.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&'));
    const path = fc.oneof(
      fc.constant('/videos'),
      fc.webPath(),
      text().map((value) => `/videos/${encodeURIComponent(value.toWellFormed())}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'DELETE', 'PUT'), path, query, async (method, at, asked) => {
        inForm(await service.call(method, `${at}?${asked}`));
      }),
      { numRuns: 200 },
    );
  });

  test('a created video is read back unchanged', async () => {
    const sound = (max: number) =>
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: max }).filter((value) => value.trim() !== '');
    await fc.assert(
      fc.asyncProperty(
        sound(40),
        sound(60),
        fc.array(sound(10), { maxLength: 5 }),
        async (title, description, tags) => {
          const { id } = await service.create({ title, description, tags });
          expect((await service.call('GET', `/videos/${id}`)).body.data).toMatchObject({ title, description, tags });
        },
      ),
      { numRuns: 40 },
    );
  });
});
