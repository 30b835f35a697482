import { Agent } from 'node:http';
import { describe, expect, test } from 'vitest';

import { createVideoClient } from '../../packages/client/src/create-video-client.ts';
import { ConnectionError, NotFoundError, ServiceError } from '../../packages/client/src/errors.ts';
import { proxyEnvOf } from '../../packages/client/src/transport/proxy.ts';
import { clientVersion } from '../../packages/client/src/version.ts';
import manifest from '../../packages/client/package.json' with { type: 'json' };
import { answer } from '../e2e/answers.ts';
import { apiKey } from './daemon-client.ts';
import { failure, openClient } from './open-client.ts';
import { losesAnswer, startTinyService } from './tiny-service.ts';
import { startHost } from './upload-host.ts';

const secret = 'tenant-0123456789';
/** Requests with the client's own user agent are checked against the contract, which lacks these. */
const userAgent = 'other';

describe('headers of the caller', () => {
  test('go to the service, and never to the upload host', async () => {
    await using service = await startTinyService();
    await using opened = openClient(service.baseUrl, { headers: { 'X-Tenant': secret, 'X-Both': 'client' } });
    await opened.client.videos.upload(Buffer.from('abc'), { title: 'T' }, { headers: { 'x-put': 'put' } });
    await opened.client.videos.get('vid_1', { headers: { 'x-both': 'call' } });
    const [create, put, get] = service.host.seen.map(({ headers }) => headers);
    expect(create).toMatchObject({ 'x-tenant': secret, 'x-both': 'client' });
    expect(create).not.toHaveProperty('x-put');
    expect(put).toHaveProperty('x-put', 'put');
    expect(put).not.toHaveProperty('x-tenant');
    expect(get).toMatchObject({ 'x-tenant': secret, 'x-both': 'call', authorization: `Bearer ${apiKey}` });
  });

  test('of an upload are not sent with the question whether it arrived', async () => {
    await using service = await startTinyService({
      puts: [losesAnswer],
      statuses: ['ready'],
    });
    await using opened = openClient(service.baseUrl);
    const options = { headers: { 'x-put': secret } };
    await opened.client.videos.upload(Buffer.from('abc'), { title: 'T' }, options);
    const asked = service.host.seen.filter(({ method }) => method === 'GET');
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter(({ headers }) => 'x-put' in headers)).toEqual([]);
  });

  test.each(['Authorization', 'host', 'Content-Length', 'content-type', 'Expect', 'Cookie', '__proto__', 'a b', ''])(
    'cannot be %s',
    async (name) => {
      const headers = Object.fromEntries([[name, secret]]);
      expect(() => openClient('http://127.0.0.1:9', { headers })).toThrow(TypeError);
      await using opened = openClient('http://127.0.0.1:9');
      const error = await failure(opened.client.feeds.list({ headers }));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).not.toContain(secret);
    },
  );

  test.each(['a\r\nx: y', 'a\n', 'ä', '\0', 7 as unknown as string])('cannot have the value %j', async (value) => {
    await using opened = openClient('http://127.0.0.1:9');
    expect(await failure(opened.client.feeds.list({ headers: { 'x-a': value } }))).toBeInstanceOf(TypeError);
  });

  test('are removed from errors whose answer echoes them', async () => {
    await using host = await startHost((request, response) => {
      answer(response, 404, {
        error: { code: 'not_found', message: `no ${String(request.headers['x-tenant'])} here` },
      });
    });
    await using opened = openClient(host.origin, { headers: { 'x-tenant': secret } });
    const error = await failure(opened.client.videos.get('vid_1'));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(JSON.stringify(error)).not.toContain(secret);
    expect(JSON.stringify(error)).toContain('no [secret] here');
  });
});

describe('any other request', () => {
  test('is sent with the key, through gate, hooks and retries, and returns the JSON', async () => {
    let count = 0;
    await using host = await startHost((request, response) => {
      request.resume();
      count += 1;
      return count === 1 ? answer(response, 503, {}) : answer(response, 200, { data: { captions: ['de'] } });
    });
    const passed: string[] = [];
    const requestGate = {
      pass: async ({ operation }: { operation: string }) => void passed.push(operation),
      throttled: () => {},
    };
    await using opened = openClient(`${host.origin}/v1`, { requestGate, userAgent });
    const path = '/videos/vid%2F1/captions';
    const query = { lang: 'de', draft: false, none: undefined };
    const { data, response } = await opened.client
      .request({ method: 'PUT', path, query, json: { a: 1 } })
      .withResponse();
    expect(data).toEqual({ data: { captions: ['de'] } });
    expect(response).toMatchObject({ status: 200, attempts: 2 });
    expect(host.seen[1]).toMatchObject({ method: 'PUT', url: `/v1${path}?lang=de&draft=false`, bytes: 7 });
    expect(host.seen[1]?.headers).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
    });
    expect(passed).toEqual([`PUT ${path}`, `PUT ${path}`]);
  });

  test('is not repeated if it is a POST, unless it may be', async () => {
    await using host = await startHost((_, response) => answer(response, 503, {}));
    await using opened = openClient(host.origin, { userAgent });
    await failure(opened.client.request({ method: 'POST', path: '/a' }));
    expect(host.seen).toHaveLength(1);
    await failure(opened.client.request({ method: 'POST', path: '/a', isRepeatable: true }));
    expect(host.seen).toHaveLength(4);
  });

  test('returns null for an empty body', async () => {
    await using host = await startHost((_, response) => void response.writeHead(204).end());
    await using opened = openClient(host.origin, { userAgent });
    expect(await opened.client.request({ method: 'DELETE', path: '/a' })).toBeNull();
  });

  test.each([
    'a',
    '',
    '//../x',
    '/../x',
    '/a/..',
    '/%2e%2E/a',
    '/a?b=1',
    '/a#b',
    '/a b',
    '/ä',
    '/a\\b',
    '/a\r\nb',
    'https://a.example/',
  ])('cannot have the path %j', async (path) => {
    await using opened = openClient('http://127.0.0.1:9/v1');
    expect(await failure(opened.client.request({ method: 'GET', path }))).toBeInstanceOf(TypeError);
  });

  test('cannot have a body if it is a GET', async () => {
    await using opened = openClient('http://127.0.0.1:9/v1');
    const error = await failure(opened.client.request({ method: 'GET', path: '/a', json: { a: 1 } }));
    expect(error).toBeInstanceOf(TypeError);
    expect(opened.requests).toEqual([]);
  });

  test('cannot use another method', async () => {
    await using opened = openClient('http://127.0.0.1:9/v1');
    const request = { method: 'CONNECT', path: '/a' } as unknown as Parameters<typeof opened.client.request>[0];
    expect(await failure(opened.client.request(request))).toBeInstanceOf(TypeError);
  });
});

describe('an agent of the caller', () => {
  test('opens the connections, for JSON and files, and stays open', async () => {
    await using service = await startTinyService();
    const http = new Agent({ keepAlive: true });
    const created: unknown[] = [];
    const { createConnection } = http;
    http.createConnection = (...args) => (created.push(args), createConnection.apply(http, args));
    {
      await using opened = openClient(service.baseUrl, { agent: { http } });
      await opened.client.videos.upload(Buffer.from('abc'), { title: 'T' });
      await opened.client.videos.get('vid_1');
    }
    expect(created.length).toBeGreaterThan(0);
    expect(created.length).toBeLessThan(3);
    await using later = openClient(service.baseUrl, { agent: { http } });
    await later.client.videos.get('vid_1');
    http.destroy();
  });

  test.each([new Agent(), { HTTPS: new Agent() }])('is not ignored if it has no protocol: %#', (agent) => {
    expect(() => openClient('http://127.0.0.1:9', { agent: agent as never })).toThrow(/^createVideoClient agent/);
  });

  test('for https replaces ca and proxyEnv, which is said', () => {
    const options = { baseUrl: 'https://a.example', apiKey, agent: { https: new Agent() as never } };
    expect(() => createVideoClient({ ...options, proxyEnv: {} })).toThrow(/^agent\.https replaces ca and proxyEnv/);
  });
});

describe('a logger', () => {
  test('gets one entry for each request and each wait, with the failure and no secret', async () => {
    let count = 0;
    await using host = await startHost((_, response) => {
      count += 1;
      return count === 1 ? answer(response, 503, {}, { 'x-request-id': 'req_1' }) : answer(response, 200, { data: [] });
    });
    const lines: string[] = [];
    // As pino does: methods use `this`, and an entry becomes JSON.
    const logger = {
      lines,
      debug(entry: object) {
        this.lines.push(`debug ${JSON.stringify(entry)}`);
      },
      warn(entry: object) {
        this.lines.push(`warn ${JSON.stringify(entry)}`);
      },
    };
    await using opened = openClient(host.origin, { logger });
    await opened.client.feeds.list();
    expect(lines.map((line) => line.replace(/"ms":[\d.]+/, '"ms":0'))).toEqual([
      'debug {"msg":"request finished","operation":"list feeds","method":"GET","path":"/feeds","attempt":1,"status":503,"requestId":"req_1","ms":0}',
      expect.stringMatching(
        /^warn \{"msg":"waiting","operation":"list feeds","reason":"failed","ms":0,"error":\{"name":"ServerError",.*"status":503,.*"message":"the service answered 503/,
      ),
      'debug {"msg":"request finished","operation":"list feeds","method":"GET","path":"/feeds","attempt":2,"status":200,"ms":0}',
    ]);
    expect(lines.join()).not.toContain(apiKey);
  });

  test('that throws fails no call', async () => {
    await using host = await startHost((_, response) => answer(response, 200, { data: [] }));
    const fails = (): never => {
      throw new Error('full');
    };
    await using opened = openClient(host.origin, { logger: { debug: fails, warn: fails } });
    const warned = new Promise((resolve) => process.once('warning', resolve));
    expect(await opened.client.feeds.list()).toEqual([]);
    expect(await warned).toMatchObject({ message: 'logger threw: full' });
  });
});

describe('an error as JSON', () => {
  test('has its message and facts, and neither cause nor stack', async () => {
    await using opened = openClient('http://127.0.0.1:1', { maxRetries: 0 });
    const error = await failure(opened.client.feeds.list());
    expect(error).toBeInstanceOf(ConnectionError);
    const { message } = error;
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'ConnectionError',
      message,
      code: 'ECONNREFUSED',
      sent: false,
    });
    expect(JSON.stringify(new ServiceError('x', { cause: new Error('y') }))).not.toContain('y');
  });

  test('of an aborted call omits the reason, which may be anything', async () => {
    await using opened = openClient('http://127.0.0.1:1');
    const signal = AbortSignal.abort({ apiKey });
    const error = await failure(opened.client.feeds.list({ signal }));
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'AbortedError',
      code: 'aborted',
      message: 'list feeds was aborted',
    });
  });
});

test('the user agent has the version of the package', async () => {
  await using service = await startTinyService();
  await using opened = openClient(service.baseUrl);
  await opened.client.videos.get('vid_1');
  expect(service.host.seen[0]?.headers['user-agent']).toBe(`dropcast-client/${manifest.version}`);
  expect(clientVersion).toBe(manifest.version);
});

test.each([
  ['10.0.0.0/8', '10.0.0.0-10.255.255.255'],
  ['192.168.7.9/24', '192.168.7.0-192.168.7.255'],
  ['127.0.0.1/32', '127.0.0.1-127.0.0.1'],
  ['0.0.0.0/0', '0.0.0.0-255.255.255.255'],
  ['203.0.113.128/25, .example.com', '203.0.113.128-203.0.113.255,.example.com'],
  ['10.0.0.0/33', '10.0.0.0/33'],
  ['300.0.0.0/8', '300.0.0.0/8'],
  ['fd00::/8', 'fd00::/8'],
  ['*', '*'],
  ['', ''],
])('NO_PROXY %j is %j for Node', (given, expected) => {
  expect(proxyEnvOf({ NO_PROXY: given }, { kind: 'none' })['no_proxy']).toBe(expected);
  expect(proxyEnvOf({ NO_PROXY: 'a', no_proxy: given || 'a' }, { kind: 'none' })['no_proxy']).toBe(expected || 'a');
});
