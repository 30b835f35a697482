import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';

import { AbortedError, ConnectionError, RequestTimeoutError } from '../../../packages/client/src/errors.ts';
import { freshConnections, Line } from '../../../packages/client/src/transport/connection.ts';
import { exchange } from '../../../packages/client/src/transport/exchange.ts';
import { startProxy } from '../../security/proxy.ts';
import { selfSigned } from '../certificate.ts';
import { openDaemonClient } from '../daemon-client.ts';
import { startHost } from '../upload-host.ts';
import { listen, startServer, type RunningServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const request = { title: 'T', channelId: 'ch_1', tags: [] };

/** A server of bare sockets. */
const startSocketServer = (handler: (socket: Socket) => void): Promise<RunningServer> => listen(createServer(handler));

describe('a create request without an answer', () => {
  test('was not sent when nothing listens', async () => {
    const gone = await startSocketServer(() => {});
    await gone[Symbol.asyncDispose]();
    await using opened = openDaemonClient(`http://127.0.0.1:${gone.port}`);
    const error = await opened.client.videos.create(request).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: false, code: 'ECONNREFUSED' });
    expect(opened.notes).toMatchObject([{ operation: 'create video', ms: expect.any(Number) }]);
    expect(opened.notes[0]).not.toHaveProperty('status');
  });

  test('was not sent when the name does not resolve', async () => {
    await using opened = openDaemonClient('https://no-such-host.invalid/v1');
    const error = await opened.client.videos.create(request).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      name: 'ConnectionError',
      sent: false,
      code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
    });
  });

  test('was not sent when the TLS handshake fails', async () => {
    await using server = await startSocketServer((socket) => socket.once('data', () => socket.end('no TLS here')));
    await using opened = openDaemonClient(`https://127.0.0.1:${server.port}`);
    const error = await opened.client.videos.create(request).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ConnectionError', sent: false });
  });

  test('was not sent when the certificate is not trusted: the server saw no request', async () => {
    let requests = 0;
    await using host = await startServer(() => (requests += 1), { tls: selfSigned });
    await using opened = openDaemonClient(host.origin);
    const error = await opened.client.videos.create(request).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ConnectionError', sent: false, code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    await until('the connection is closed', () => host.sockets.size === 0);
    expect(requests).toBe(0);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['is reset', (socket) => socket.resetAndDestroy()],
    ['is closed', (socket) => socket.end()],
    ['breaks in the head of the answer', (socket) => socket.end('HTTP/1.1 20')],
    [
      'breaks in the body of the answer',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"id":"vid_1"'),
    ],
    ['answers something else than HTTP', (socket) => socket.end('SSH-2.0-OpenSSH\r\n')],
  ])('was sent when the connection %s', async (_, answer) => {
    await using server = await startSocketServer((socket) => socket.once('data', () => answer(socket)));
    await using opened = openDaemonClient(`http://127.0.0.1:${server.port}`);
    const error = await opened.client.videos.create(request).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: true });
  });

  test.each<[string, string]>([
    ['at all', ''],
    ['to the end', 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"id":'],
  ])('was sent when the answer does not come %s in time', async (_, beginning) => {
    await using server = await startSocketServer((socket) => socket.once('data', () => void socket.write(beginning)));
    await using opened = openDaemonClient(`http://127.0.0.1:${server.port}`, { timeoutMs: 150 });
    const error = await opened.client.videos.create(request).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RequestTimeoutError);
    expect(error).toMatchObject({ sent: true, code: 'timeout' });
  });
});

describe('connections', () => {
  test('are opened afresh for every request, so that none is written to while the server closes it', async () => {
    const ports = new Set<number | undefined>();
    await using host = await startHost((message, response) => {
      ports.add(message.socket.remotePort);
      response.setHeader('content-type', 'application/json');
      response.end('{"id":"vid_1","upload_url":"https://u","status":"pending"}');
    });
    await using opened = openDaemonClient(host.origin);
    for (let i = 0; i < 3; i++) await opened.client.videos.create(request);
    expect(ports.size).toBe(3);
    await until('the connection is closed', () => host.sockets.size === 0);
  });

  test('are cut when the caller or the client stops', async () => {
    await using host = await startHost(() => {});
    const opened = openDaemonClient(host.origin);
    const stop = new AbortController();
    const first = opened.client.feeds.list({ signal: stop.signal }).catch((reason: unknown) => reason);
    const second = opened.client.feeds.list().catch((reason: unknown) => reason);
    await until('both requests are there', () => host.seen.length === 2);
    stop.abort();
    expect(await first).toBeInstanceOf(AbortedError);
    await opened[Symbol.asyncDispose]();
    expect(await second).toBeInstanceOf(AbortedError);
    await until('the connection is closed', () => host.sockets.size === 0);
  });
});

describe('where TLS proved the other side', () => {
  const linesOf = async (url: URL, proxyEnv = {}): Promise<Line> => {
    const line = new Line();
    const agent = freshConnections(proxyEnv, selfSigned.cert);
    const { signal } = new AbortController();
    await exchange({ what: 'list feeds', url, method: 'GET', headers: {}, agent, line, signal, timeoutMs: 5_000 });
    return line;
  };

  test('is known of a direct connection, and hidden by a proxy or without TLS', async () => {
    await using host = await startServer((_, response) => response.end('{}'), { tls: selfSigned });
    await using plain = await startHost((_, response) => response.end('{}'));
    await using proxy = await startProxy(host.port);
    expect((await linesOf(new URL(host.origin))).peer).toBe('127.0.0.1');
    expect((await linesOf(new URL(host.origin), { HTTPS_PROXY: proxy.origin })).peer).toBeNull();
    expect(proxy.asked).toHaveLength(1);
    expect((await linesOf(new URL(plain.origin))).peer).toBeNull();
  });
});
