import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';

import { flood } from '../support/flood.ts';
import { serveStatusPage } from '../../src/status/page/serve.ts';
import { idleDaemon } from '../status/page/idle-daemon.ts';
import { createPageAccess } from '../../src/status/page/access.ts';
import type { HttpLimits } from '../../src/http/serve.ts';

const token = 'the-token-of-this-daemon';

function serve(limits?: Partial<HttpLimits>) {
  const source = {
    daemon: idleDaemon({}, ['dropcast.example.com']),
    health: () => 'ok' as const,
    receive: () => 'not wanted' as const,
    access: createPageAccess(token),
    testNotifications: async () => [],
  };
  return serveStatusPage({ host: '127.0.0.1', port: 0 }, source, limits);
}

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(port: number, { method = 'GET', path = '/', headers = {} }: Asked) {
  const withToken = { authorization: `Bearer ${token}`, ...headers };
  return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers: withToken, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

describe('the status page', () => {
  test.each([
    ['evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['evil.example:7878', 421],
    ['localhost.', 421],
    ['[::1]@evil.example', 400],
    ['127.0.0.1', 200],
    ['localhost:9', 200],
    ['[::1]:7878', 200],
    ['dropcast.example.com', 200],
    ['DropCast.Example.com:443', 200],
    ['www.dropcast.example.com', 421],
    ['dropcast.example.com.', 421],
  ])('under the name %j answers %i, so that no foreign name leads to it', async (host, status) => {
    await using page = await serve();
    for (const path of ['/', '/status.json', '/healthz']) {
      expect((await ask(page.port, { path, headers: { host } })).status).toBe(status);
    }
  });

  test.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://127.0.0.1.evil.example' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: 'https://evil.example' }, 403],
    // A link in a mail or a wiki is one that somebody wants to follow.
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 200],
    [{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', origin: 'http://127.0.0.1:7878' }, 200],
    [{ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, 200],
  ])('asked by a browser with %j answers %i', async (headers, status) => {
    await using page = await serve();
    expect((await ask(page.port, { path: '/status.json', headers })).status).toBe(status);
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])('takes no %s', async (method) => {
    await using page = await serve();
    expect(await ask(page.port, { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  test('runs its own script alone, is shown in no frame, and gives other origins nothing', async () => {
    await using page = await serve();
    const { headers } = await ask(page.port, {});
    expect(String(headers['content-security-policy']).split('; ').toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('reports what it refuses, too', async () => {
    await using page = await serve();
    const foreign = { origin: 'https://evil.example' };
    const asked = [
      { headers: { host: 'evil.example' } },
      { headers: foreign },
      { method: 'PUT' },
      { path: '/missing' },
      { headers: { authorization: '' } },
    ];
    const answers = await Promise.all(asked.map((request) => ask(page.port, request)));
    expect(answers.map(({ status }) => status)).toEqual([421, 403, 405, 404, 401]);
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
    }
  });

  const none = { authorization: '' };

  test.each(['/', '/status.json', '/missing', '/open', '/open?code=guessed'])(
    'reveals nothing about files without its token at %s',
    async (path) => {
      await using page = await serve();
      for (const authorization of ['', 'Bearer', 'Bearer wrong', `Basic ${token}`, `Bearer ${token}x`, token]) {
        const { status, text } = await ask(page.port, { path, headers: { authorization } });
        expect({ authorization, status }).toEqual({ authorization, status: 401 });
        expect(text).toContain('dropcast open');
        expect(text).not.toContain('config');
      }
    },
  );

  test('says to everybody whether dropcast works, and nothing else', async () => {
    await using page = await serve();
    expect(await ask(page.port, { path: '/healthz', headers: none })).toMatchObject({ status: 200, text: 'ok\n' });
  });

  test('is opened by a link, once, with a cookie that no script and no other site can use', async () => {
    await using page = await serve();
    const link = new URL(page.link('change'));
    expect(link.origin).toBe(`http://127.0.0.1:${page.port}`);
    const path = `${link.pathname}${link.search}`;
    // Mail programs and chats look at links before people do.
    expect(await ask(page.port, { path, method: 'HEAD', headers: none })).toMatchObject({ status: 401 });
    const { status, headers } = await ask(page.port, { path, headers: none });
    expect(status).toBe(200);
    const [cookie = ''] = headers['set-cookie'] ?? [];
    expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict']);
    expect(cookie).not.toContain(token);
    const [value = ''] = cookie.split(';');
    expect(await ask(page.port, { path: '/status.json', headers: { ...none, cookie: value } })).toMatchObject({
      status: 200,
    });
    expect((await ask(page.port, { headers: { ...none, cookie: `${value}x` } })).status).toBe(401);
    expect((await ask(page.port, { path, headers: none })).status).toBe(401);
  });

  test('under the name of another site, its token and its cookie open nothing', async () => {
    await using page = await serve();
    const { headers } = await ask(page.port, {
      path: page.link('change').replace(/^http:\/\/[^/]*/, ''),
      headers: none,
    });
    const cookie = (headers['set-cookie'] ?? [''])[0]?.split(';')[0] ?? '';
    for (const path of ['/', '/status.json', '/open'])
      expect((await ask(page.port, { path, headers: { cookie, host: 'evil.example' } })).status).toBe(421);
  });

  test.each([
    // Unsigned: refused by its head.
    ['/webhooks', 404],
    ['/', 405],
    ['/status.json', 405],
  ])('reads no body without end at %s', async (path, status) => {
    await using page = await serve();
    for (const isAnnounced of [true, false]) {
      const flooded = await flood({ host: '127.0.0.1', port: page.port, path }, isAnnounced);
      expect(flooded.status).toBe(path === '/webhooks' && isAnnounced ? 413 : status);
      expect(flooded.sentBytes).toBeLessThan(8 * 1024 * 1024);
    }
  });

  test('refuses a head that is too long', async () => {
    await using page = await serve();
    const { status } = await ask(page.port, { headers: { 'x-long': 'x'.repeat(17 * 1024) } });
    expect(status).toBe(431);
  });

  test.each([
    ['says nothing', ''],
    ['never ends its head', 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: '],
    ['never ends its body', 'POST /webhooks HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{'],
  ])('does not wait for a client that %s', async (_, beginning) => {
    await using page = await serve({ requestMs: 200 });
    const socket = await open(page.port);
    const closed = once(socket.resume(), 'close', { signal: AbortSignal.timeout(5_000) });
    socket.write(beginning);
    await closed;
  });

  test('has room for a fixed number of connections, and again for others when one ends', async () => {
    await using page = await serve({ connections: 3 });
    const held = await Promise.all([open(page.port), open(page.port), open(page.port)]);
    await expect(ask(page.port, {})).rejects.toThrow(/ECONNRESET|socket hang up/);
    for (const socket of held) socket.destroy();
    await expect
      .poll(() =>
        ask(page.port, {}).then(
          ({ status }) => status,
          () => 'refused',
        ),
      )
      .toBe(200);
  });
});
