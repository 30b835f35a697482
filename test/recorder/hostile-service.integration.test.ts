import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { listen, startServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { recorded, type Recorded } from './recorded.ts';

/** What a program got: status, headers and body, or the code of its error. */
interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

async function ask(url: string, { method = 'GET', headers = {}, body = '' }: Asking = {}): Promise<Got> {
  const request = httpRequest(url, { method, headers, agent: false });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  request.on('error', () => {}); // After the answer, a service may close while the body is still on its way.
  request.end(body);
  const [response] = await answered;
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
}

function keepingAgent(): Agent & Disposable {
  const agent = new Agent({ keepAlive: true });
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

/** A service of one answer, a recorder, and what a program does. */
async function through(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  program: (baseUrl: string, origin: string) => Promise<void>,
  options: Parameters<typeof recorded>[2] = {},
): Promise<Recorded> {
  await using service = await startServer(answer);
  return await recorded(
    `${service.origin}/v1`,
    async ({ baseUrl }) => program(baseUrl, new URL(baseUrl).origin),
    options,
  );
}

/** A service that writes bytes and not HTTP. */
async function throughRaw(
  answer: (socket: Socket) => void,
  program: (baseUrl: string) => Promise<void>,
): Promise<Recorded> {
  await using service = await listen(createTcpServer((socket) => socket.once('data', () => answer(socket))));
  return await recorded(`${service.origin}/v1`, async ({ baseUrl }) => program(baseUrl));
}

const json = { 'content-type': 'application/json' };

describe('an answer reaches the program byte by byte', () => {
  const long = JSON.stringify({ data: 'x'.repeat(5 * 1024 * 1024) });
  test.each<[string, Record<string, string>, Buffer]>([
    ['JSON that is not UTF-8', json, Buffer.from('{"title":"caf\xe9"}', 'latin1')],
    ['JSON of 5 MiB in pieces', json, Buffer.from(long)],
    ['compressed JSON', { ...json, 'content-encoding': 'gzip' }, gzipSync('{"upload_url":"https://x.example/1"}')],
    ['an address with an escape that JSON does not have', json, Buffer.from('{"upload_url":"https:\\x2f"}')],
    ['an address that is no address', json, Buffer.from('{"upload_url":"nowhere"}')],
    ['an address that a program must refuse', json, Buffer.from('{"upload_url":"http://far.example/1"}')],
    ['numbers beyond those of JavaScript', json, Buffer.from('{"id":12345678901234567890, "a" : 1.0}')],
    ['a key in quotes', json, Buffer.from('{"error":{"code":"x","message":"say \\"Bearer abc123def\\""}}')],
    ['a thousand brackets', json, Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
    ['nothing', json, Buffer.alloc(0)],
  ])('%s', async (_, headers, body) => {
    const { recording } = await through(
      (request, response) => {
        request.resume();
        response.writeHead(200, headers);
        for (let at = 0; at < body.length; at += 60_000) response.write(body.subarray(at, at + 60_000));
        response.end();
      },
      async (baseUrl) => {
        const got = await ask(`${baseUrl}/videos`);
        expect([got.status, got.body.equals(body)]).toEqual([200, true]);
      },
    );
    expect(recording.exchanges).toMatchObject([{ answer: { status: 200 } }]);
  });

  test.each([
    ['HEAD', 200, { ...json, 'content-length': '1234' }],
    ['GET', 204, {}],
    ['GET', 304, { etag: '"1"' }],
    ['GET', 304, { ...json, etag: '"1"' }],
  ])('%s %s keeps its headers', async (method, status, headers) => {
    await through(
      (_, response) => void response.writeHead(status, headers).end(),
      async (baseUrl) => {
        const got = await ask(`${baseUrl}/videos`, { method });
        expect(got.status).toBe(status);
        expect(got.headers).toMatchObject(headers);
        if (!('content-length' in headers)) expect(got.headers).not.toHaveProperty('content-length');
      },
    );
  });

  test('and so does a refusal that comes before the body has been read', async () => {
    const read = Promise.withResolvers<void>();
    const { recording } = await through(
      (_, response) => {
        response.writeHead(413, json).end('{"error":{"code":"large","message":"m"}}');
        void read.promise.then(() => response.socket?.destroy());
      },
      async (baseUrl) => {
        const got = await ask(`${baseUrl}/videos`, { method: 'POST', body: Buffer.alloc(20_000_000) });
        expect([got.status, got.body.toString()]).toEqual([413, expect.stringContaining('large')]);
        read.resolve();
      },
    );
    expect(recording.exchanges).toMatchObject([{ answer: { status: 413 } }]);
  });

  test('and what is sent after an early answer counts', async () => {
    let received = 0;
    const size = 3_000_000;
    const { recording } = await through(
      (request, response) => {
        response.writeHead(200, json).end('{}');
        request.on('data', (part: Buffer) => void (received += part.length));
      },
      async (baseUrl) => {
        using agent = keepingAgent(); // Without it, Node stops to send when the answer has come.
        const headers = { 'content-length': size, 'content-type': 'video/mp4' };
        const upload = httpRequest(`${baseUrl}/videos`, { method: 'POST', agent, headers });
        upload.write(Buffer.alloc(1000));
        const [response] = (await once(upload, 'response')) as [IncomingMessage];
        await buffer(response);
        upload.end(Buffer.alloc(size - 1000));
        await once(upload, 'close');
        await until('the service has all of it', () => received === size);
      },
    );
    expect(recording.exchanges[0]?.request.body).toMatchObject({ bytes: size });
    expect(received).toBe(size);
  });
});

test('an early answer is whole, also when the recorder is closed before the program has sent its body', async () => {
  const { recording } = await through(
    (_, response) => void response.writeHead(413, json).end('{"error":{"code":"large","message":"m"}}'),
    async (baseUrl) => {
      const upload = httpRequest(`${baseUrl}/videos`, { method: 'POST', headers: { 'content-length': 1000 } });
      upload.on('error', () => {});
      upload.write('x');
      const [response] = (await once(upload, 'response')) as [IncomingMessage];
      expect((await buffer(response)).toString()).toContain('large');
    },
    { closeWithinMs: 0 },
  );
  expect(recording.exchanges[0]).toMatchObject({ answer: { status: 413 } });
  expect(recording.exchanges[0]).not.toHaveProperty('broken');
});

test('what a program adds to the query of an upload address arrives', async () => {
  const seen: unknown[] = [];
  const { recording } = await through(
    (request, response) => {
      seen.push(request.url);
      request.resume();
      response.end(JSON.stringify({ id: 'v', upload_url: `http://${request.headers.host}/put?sig=hush-hush-1` }));
    },
    async (baseUrl) => {
      const { upload_url } = JSON.parse((await ask(`${baseUrl}/videos`, { method: 'POST' })).body.toString());
      await ask(`${upload_url}?part=2&token=hush-hush-2`, { method: 'PUT', body: 'x' });
    },
  );
  expect(seen[1]).toBe('/put?sig=hush-hush-1&part=2&token=hush-hush-2');
  expect(recording.exchanges[1]?.target).toMatch(/^\/uploads\/v\/1\?part=2&token=\[hidden \w+ \d\]$/);
});

describe('a connection that breaks is broken for the program, and the recorder lives', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['before an answer', (socket) => socket.resetAndDestroy()],
    ['in the status line', (socket) => socket.end('HTTP/1.1 2')],
    ['in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-')],
    [
      'in JSON',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"data'),
    ],
    [
      'in a chunk, with a reset',
      (socket) =>
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab', () =>
          setImmediate(() => socket.resetAndDestroy()),
        ),
    ],
    ['with another protocol', (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n')],
    [
      'with an upgrade',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
    ],
    ['with a status that is none', (socket) => socket.end('HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n')],
  ])('%s', async (_, answer) => {
    const { recording } = await throughRaw(answer, async (baseUrl) => {
      await expect(ask(`${baseUrl}/videos`)).rejects.toThrow();
      await expect(ask(`${baseUrl}/videos`, { method: 'POST', body: '{}' })).rejects.toThrow();
    });
    expect(recording.exchanges).toHaveLength(2);
    expect(recording.exchanges.every(({ broken }) => broken !== undefined)).toBe(true);
  });

  test('and what is still under way when the recorder is closed', async () => {
    const asked = Promise.withResolvers<void>();
    const { recording } = await through(
      () => asked.resolve(),
      async (baseUrl) => {
        ask(`${baseUrl}/videos`).catch(() => {});
        await asked.promise;
      },
      { closeWithinMs: 0 },
    );
    expect(recording.exchanges).toMatchObject([{ broken: 'the recorder was stopped' }]);
  });
});

describe('a request that no program should send', () => {
  test.each([
    'GET // HTTP/1.1',
    'GET //evil.example/v1/videos HTTP/1.1',
    'GET /v1/..\\..\\x HTTP/1.1',
    'GET /v1/../x HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT far.example:443 HTTP/1.1',
    'GET ftp://127.0.0.1/v1/videos HTTP/1.1',
    'GET http:///v1 HTTP/1.1',
  ])('%s goes nowhere, and the next one is served', async (line) => {
    const seen: unknown[] = [];
    await through(
      (request, response) => {
        seen.push(request.url);
        response.end();
      },
      async (baseUrl, origin) => {
        const { port } = new URL(origin);
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => {});
        socket.end(`${line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
        await once(socket.resume(), 'close');
        expect((await ask(`${baseUrl}/after`)).status).toBe(200);
      },
    );
    expect(seen).toEqual(['/v1/after']);
  });

  test('a body without an end and without a length is none', async () => {
    let headers: IncomingMessage['headers'] = {};
    await through(
      (request, response) => {
        ({ headers } = request);
        response.end();
      },
      async (baseUrl, origin) => {
        const socket = connect(Number(new URL(origin).port), '127.0.0.1');
        socket.end('POST /v1/feeds/f/publish HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
        await once(socket.resume(), 'close');
        expect(baseUrl).toContain(origin);
      },
    );
    expect(headers).toMatchObject({ 'content-length': '0', 'accept-encoding': 'identity' });
    expect(headers).not.toHaveProperty('transfer-encoding');
  });
});

describe('a key', () => {
  test('goes to the service and not to another origin that takes the uploads', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const note = (request: IncomingMessage, response: ServerResponse): void => {
      seen.push(request.headers);
      request.resume();
      response.end();
    };
    await using store = await startServer(note);
    const program = async (baseUrl: string): Promise<void> => {
      const { upload_url } = JSON.parse((await ask(`${baseUrl}/videos`, { method: 'POST' })).body.toString());
      expect(new URL(upload_url).origin).toBe(new URL(baseUrl).origin);
      const headers = { authorization: 'Bearer the-key-1', cookie: 'a=secret-1' };
      await ask(upload_url, { method: 'PUT', body: 'x', headers });
    };
    const answer = (_: IncomingMessage, response: ServerResponse): void =>
      void response.end(JSON.stringify({ id: 'v', upload_url: `${store.origin}/put?sig=1` }));
    const { recording } = await through(answer, program);
    expect(seen[0]).not.toHaveProperty('authorization');
    expect(seen[0]).not.toHaveProperty('cookie');
    expect(recording.exchanges[1]?.request.headers['authorization']).toBe(
      `Bearer [hidden key 1] (not sent to ${store.origin})`,
    );
    await through(answer, program, { sendKeyTo: [store.origin] });
    expect(seen[1]).toMatchObject({ authorization: 'Bearer the-key-1', cookie: 'a=secret-1' });
  });

  test('goes with an upload to the service itself', async () => {
    const seen: IncomingMessage['headers'][] = [];
    await through(
      (request, response) => {
        seen.push(request.headers);
        request.resume();
        response.end(JSON.stringify({ id: 'v', upload_url: `http://${request.headers.host}/put/1` }));
      },
      async (baseUrl) => {
        const { upload_url } = JSON.parse((await ask(`${baseUrl}/videos`, { method: 'POST' })).body.toString());
        await ask(upload_url, { method: 'PUT', body: 'x', headers: { authorization: 'Bearer the-key-1' } });
      },
    );
    expect(seen[1]).toMatchObject({ authorization: 'Bearer the-key-1' });
  });
});

describe('no secret is recorded', () => {
  /** The service says back what it was told. */
  const echo =
    (said: unknown, headers: Record<string, string | string[]> = json) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      request.resume();
      request.once('end', () =>
        response.writeHead(200, headers).end(typeof said === 'string' ? said : JSON.stringify(said)),
      );
    };

  test.each<[string, Asking & { readonly query?: string }, unknown, Record<string, string | string[]>]>([
    ['a key without a scheme', { headers: { authorization: 'hush-hush-1' } }, { said: 'hush-hush-1' }, json],
    ['a key in a header of its own', { headers: { 'x-api-key': 'hush-hush-1' } }, { said: 'hush-hush-1' }, json],
    ['a cookie', { headers: { cookie: 'a=b; s=hush-hush-1' } }, { said: 'hush-hush-1' }, json],
    ['a cookie that is set', {}, { said: 'hush-hush-1' }, { ...json, 'set-cookie': ['s=hush-hush-1; Path=/'] }],
    [
      'a password',
      { headers: { authorization: `Basic ${Buffer.from('me:hush-hush-1').toString('base64')}` } },
      { said: 'hush-hush-1' },
      json,
    ],
    ['a parameter', { query: '?access_token=hush-hush-1' }, { said: 'hush-hush-1' }, json],
    ['a field', {}, { token: 'hush-hush-1', and: 'hush-hush-1' }, json],
    ['fields below a field', {}, { credentials: { user: 'hush-hush-1', list: ['hush-hush-1', 77_777_777] } }, json],
    ['a name of a field', { headers: { authorization: 'Bearer hush-hush-1' } }, { 'hush-hush-1': 1 }, json],
    [
      'a form',
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'a=1&password=hush-hush-1',
      },
      {},
      json,
    ],
    [
      'a page',
      { headers: { authorization: 'Bearer hush&hush-1' } },
      '<p>hush&amp;hush-1',
      { 'content-type': 'text/html' },
    ],
    ['a JSON text that is none', { headers: { authorization: 'Bearer hush"hush-1' } }, '{"a":"hush\\"hush-1', json],
    ['an address of another scheme', {}, { from: 'ftp://me:hush-hush-1@far.example/a' }, json],
    ['an upload address that the program must refuse', {}, { upload_url: 'http://far.example/hush-hush-1' }, json],
    [
      'an upload address in a text',
      {},
      '{"upload_url":"https://far.example/a/hush-hush-1"}',
      { 'content-type': 'text/plain' },
    ],
    ['a field of a JSON text that is cut', {}, '{"id":"v","client_secret":"hush-hush-1","x', json],
    ['a field that is cut itself', {}, '{"id":"v","client_secret":"hush-hush-1', json],
    ['a field with a number, cut', {}, '{"id":"v","token":77777777,"x', json],
    ['a field with a list, cut', {}, '{"id":"v","tokens":["hush-hush-1","x', json],
    ['a field with fields, cut', {}, '{"id":"v","credentials":{"user":"hush-hush-1","x', json],
    ['an upload address, cut', {}, '{"id":"v","upload_url":"https://far.example/hush-hush-1/x', json],
    ['lines of JSON', {}, '{"id":1}\n{"token":"hush-hush-1"}\n', { 'content-type': 'application/x-ndjson' }],
    ['an event', {}, 'data: {"token":"hush-hush-1"}\n\n', { 'content-type': 'text/event-stream' }],
    ['JSON after a byte order mark', {}, '\uFEFF{"token":"hush-hush-1"}', json],
    ['JSON in a text of JSON', {}, { said: '{"token":"hush-hush-1"}' }, json],
    ['a relative address', {}, {}, { ...json, location: '/videos/1?a=b&signature=hush-hush-1' }],
    ['an address with a fragment', {}, { at: 'https://far.example/#access_token=hush-hush-1' }, json],
    ['a form in a text', {}, { said: 'a=1&user%5Bpassword%5D=hush-hush-1 is wrong' }, json],
    ['a page with a form', {}, '<a href="?auth_key=hush-hush-1">', { 'content-type': 'text/html' }],
    ['what looks like a key', {}, { said: 'Bearer hush-hush-1, sk_hush-hush-1' }, json],
  ])('%s', async (_, { query = '', ...asking }, said, headers) => {
    const { text, recording } = await through(echo(said, headers), async (baseUrl) => {
      await ask(`${baseUrl}/videos${query}`, asking);
    });
    expect(text).not.toMatch(/hush/);
    expect(text).not.toContain('77777777');
    expect(recording.exchanges).toHaveLength(1);
  });

  test('of an upload, nor where it was redirected to', async () => {
    const { text } = await through(
      (request, response) => {
        request.resume();
        if (request.method === 'PUT') response.writeHead(307, { location: 'https://far.example/hush-hush-1/x' }).end();
        else
          response.end(JSON.stringify({ id: 'v', upload_url: `http://${request.headers.host}/hush-hush-1-hush-hush` }));
      },
      async (baseUrl) => {
        const { upload_url } = JSON.parse((await ask(`${baseUrl}/videos`, { method: 'POST' })).body.toString());
        const { headers } = await ask(upload_url, { method: 'PUT', body: 'x' });
        expect(headers.location).toBe('https://far.example/hush-hush-1/x');
      },
    );
    expect(text).not.toMatch(/hush/);
  });

  test('and words of every day stay', async () => {
    const said = {
      key_frame_interval: 'token_bucket algorithm',
      title: 'The Bearer of good news [Live]',
      type: 'application/octet-stream',
    };
    const { text } = await through(
      (_, response) =>
        void response.writeHead(200, { ...json, 'www-authenticate': 'Bearer realm="videos"' }).end(
          JSON.stringify({
            ...said,
            id: 'v',
            upload_url: 'https://u.example/?type=application/octet-stream&alg=AWS-HMAC-SHA-LONG',
          }),
        ),
      async (baseUrl) => void (await ask(`${baseUrl}/videos`, { headers: { accept: 'application/octet-stream' } })),
    );
    expect(text).toContain(JSON.stringify(said).slice(1, -1));
    expect(text).toContain('Bearer realm=');
    expect(text).toContain('"accept":"application/octet-stream"');
  });
});
