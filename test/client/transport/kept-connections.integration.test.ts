import { execFile } from 'node:child_process';
import { Agent, createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { AbortedError, ConnectionError } from '../../../packages/client/src/errors.ts';
import { keptConnections, Line } from '../../../packages/client/src/transport/connection.ts';
import { exchange } from '../../../packages/client/src/transport/exchange.ts';
import { startProxy } from '../../security/proxy.ts';
import { listen, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { selfSigned } from '../certificate.ts';
import { openDaemonClient } from '../daemon-client.ts';
import { openClient } from '../open-client.ts';

const request = { title: 'T', channelId: 'ch_1', tags: [] };
const created = '{"id":"vid_1","upload_url":"https://u","status":"pending"}';

/** A server that notes the connection of each request, numbered from 1. */
async function startNoting(handler: RequestListener) {
  const numbers = new Map<Socket, number>();
  const used: string[] = [];
  const server = await startServer((message, response) => {
    const number = numbers.get(message.socket) ?? numbers.size + 1;
    numbers.set(message.socket, number);
    used.push(`${message.method} ${number}`);
    handler(message, response);
  });
  return { ...server, used };
}

/** Answers the first request of each connection, and cuts the connection at the second. */
const answeringOnce = (): RequestListener => {
  const served = new WeakSet<Socket>();
  return ({ socket }, response) => {
    if (served.has(socket)) return void socket.resetAndDestroy();
    served.add(socket);
    return void response.end('{"data":[]}');
  };
};

describe('connections', () => {
  test('are kept for what may be repeated, and fresh for each create', async () => {
    await using host = await startNoting(({ method, url }, response) => {
      response.end(method === 'POST' && url === '/videos' ? created : '{"data":[]}');
    });
    await using opened = openDaemonClient(host.origin);
    await opened.client.feeds.list();
    await opened.client.videos.create(request);
    await opened.client.channels.list();
    await opened.client.videos.create(request);
    await opened.client.videos.delete('vid_1');
    expect(host.used).toEqual(['GET 1', 'POST 2', 'GET 1', 'POST 3', 'DELETE 1']);
  });

  test('are fresh for each create also where the program limits those of all agents', async () => {
    const limits = Agent as unknown as { defaultMaxSockets?: number };
    const { defaultMaxSockets } = limits;
    limits.defaultMaxSockets = 1;
    onTestFinished(() => void Object.assign(limits, { defaultMaxSockets }));
    await using host = await startNoting((_, response) => response.end(created));
    await using opened = openDaemonClient(host.origin);
    await Promise.all([1, 2, 3].map(() => opened.client.videos.create(request)));
    expect(host.used).toEqual(['POST 1', 'POST 2', 'POST 3']);
  });

  test('are kept for creates with a key that the service honours', async () => {
    await using host = await startNoting((_, response) => response.end(created));
    await using opened = openDaemonClient(host.origin, { honoursIdempotencyKey: true });
    for (const idempotencyKey of ['one', 'two']) await opened.client.videos.create(request, { idempotencyKey });
    expect(host.used).toEqual(['POST 1', 'POST 1']);
  });

  test('are limited in number: requests beyond it wait, and few stay open', async () => {
    const held: (() => void)[] = [];
    await using host = await startServer((_, response) => held.push(() => response.end('{"data":[]}')));
    await using opened = openDaemonClient(host.origin);
    const answered = Promise.all(Array.from({ length: 60 }, () => opened.client.feeds.list()));
    await until('all connections are in use', () => held.length === 50);
    expect(host.sockets.size).toBe(50);
    for (const answer of held.splice(0)) answer();
    await until('the others were sent', () => held.length === 10);
    for (const answer of held) answer();
    expect(await answered).toHaveLength(60);
    await until('ten connections are left', () => host.sockets.size === 10);
  });

  test('are closed with the client, whose later calls say so', async () => {
    const unhurried = createServer({ keepAliveTimeout: 0 }, (_, response) => response.end('{"data":[]}'));
    await using host = await listen(unhurried);
    const opened = openDaemonClient(host.origin);
    await opened.client.feeds.list();
    expect(host.sockets.size).toBe(1);
    await opened[Symbol.asyncDispose]();
    // Sooner than an idle connection ends anyway.
    await until('the connection is closed', () => host.sockets.size === 0, { withinMs: 10_000 });
    await expect(opened.client.feeds.list()).rejects.toThrow('list feeds was aborted: the client was closed');
  });

  test('do not keep a process alive', async () => {
    await using host = await startServer((_, response) => response.end('{"data":[]}'));
    const program = `
      import { createVideoClient } from '@dropcast/client';
      const client = createVideoClient({ baseUrl: '${host.origin}', apiKey: 'key', proxyEnv: {} });
      await client.feeds.list();
      console.log(process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length);`;
    const args = ['--input-type=module', '-e', program];
    // Killed if the idle connection held it until the end of its time.
    const ended = promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
    expect((await ended).stdout).toBe('0\n');
  });
});

describe('a connection that the server has closed since its last request', () => {
  test('is no failure: the request is sent once more, and passes the gate again', async () => {
    await using host = await startNoting(answeringOnce());
    await using opened = openDaemonClient(host.origin);
    await opened.client.feeds.list();
    expect(await opened.client.feeds.list()).toEqual([]);
    expect(host.used).toEqual(['GET 1', 'GET 1', 'GET 2']);
    expect(opened.passed.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  test('is no failure either for requests that waited for a connection', async () => {
    await using host = await startNoting(answeringOnce());
    await using opened = openDaemonClient(host.origin);
    const answered = await Promise.all(Array.from({ length: 60 }, () => opened.client.feeds.list()));
    expect(answered).toHaveLength(60);
  });

  test('is a failure if the fresh connection breaks as well', async () => {
    let answered = 0;
    await using host = await startNoting((message, response) => {
      if (answered++ === 0) response.end('{"data":[]}');
      else message.socket.resetAndDestroy();
    });
    await using opened = openClient(host.origin, { maxRetries: 1 });
    await opened.client.feeds.list();
    const error = await opened.client.feeds.list().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'ECONNRESET', sent: true });
    expect(host.used).toEqual(['GET 1', 'GET 1', 'GET 2', 'GET 3']);
    expect(opened.sleeps).toHaveLength(1);
  });

  test('may have carried out a deletion: not found is then success', async () => {
    let deletions = 0;
    await using host = await startServer((message, response) => {
      if (message.method !== 'DELETE') return response.end('{"data":[]}');
      if (deletions++ === 0) return message.socket.resetAndDestroy();
      return response.writeHead(404).end();
    });
    await using opened = openDaemonClient(host.origin);
    await opened.client.feeds.list();
    expect(await opened.client.videos.delete('vid_1')).toBeUndefined();
    expect(deletions).toBe(2);
  });

  test('is a failure if part of the response has arrived', async () => {
    let answered = 0;
    await using host = await startServer((message, response) => {
      if (answered++ === 0) return void response.end('{"data":[]}');
      return void response.writeHead(200).write('{"data"', () => message.socket.resetAndDestroy());
    });
    await using opened = openDaemonClient(host.origin);
    await opened.client.feeds.list();
    await expect(opened.client.feeds.list()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(answered).toBe(2);
  });
});

describe('a kept connection', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const ask = async (
    agent: ReturnType<typeof keptConnections>,
    origin: string,
    { signal } = new AbortController(),
  ): Promise<Line> => {
    const line = new Line();
    await exchange({ what: 'list feeds', url: new URL(origin), method: 'GET', headers: {}, agent, line, signal });
    return line;
  };

  test('still knows where TLS proved the other side; behind a proxy that stays unknown', async () => {
    await using host = await startServer((_, response) => response.end('{}'), { tls: selfSigned });
    await using proxy = await startProxy(host.port);
    using direct = keptConnections({}, selfSigned.cert);
    using proxied = keptConnections({ HTTPS_PROXY: proxy.origin }, selfSigned.cert);
    for (const _ of [1, 2]) expect((await ask(direct, host.origin)).peer).toBe('127.0.0.1');
    for (const _ of [1, 2]) expect((await ask(proxied, host.origin)).peer).toBeNull();
    expect(proxy.asked).toHaveLength(1);
    expect(host.sockets.size).toBe(2);
  });

  test('is never one that an aborted request has left half open, because its peer would stay unknown', async () => {
    await using host = await startServer((_, response) => response.end('{}'), { tls: selfSigned });
    using agent = keptConnections({}, selfSigned.cert);
    const aborting = new AbortController();
    const { addRequest } = agent.https as unknown as { addRequest: (...args: unknown[]) => void };
    // Before Node hands the new connection to the request.
    const abortsFirst = (...args: unknown[]): void => {
      addRequest.apply(agent.https, args);
      aborting.abort();
    };
    Object.assign(agent.https, { addRequest: abortsFirst });
    await expect(ask(agent, host.origin, aborting)).rejects.toBeInstanceOf(AbortedError);
    Object.assign(agent.https, { addRequest });
    const idle = () => Object.values(agent.https.freeSockets).flatMap((sockets) => sockets ?? []);
    await until('the connection is up or given up', () => idle().every(({ connecting }) => !connecting));
    expect((await ask(agent, host.origin)).peer).toBe('127.0.0.1');
  });

  test('gets no further request when it is a minute old, also if requests wait for it', async () => {
    await using host = await startNoting((_, response) => response.end('{}'));
    using agent = keptConnections({});
    const now = performance.now();
    let reads = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000 * reads++);
    await Promise.all(Array.from({ length: 110 }, () => ask(agent, host.origin)));
    expect(new Set(host.used).size).toBeGreaterThan(50);
  });

  test('gets no further request when it is a minute old', async () => {
    await using host = await startNoting((_, response) => response.end('{}'));
    using agent = keptConnections({});
    await ask(agent, host.origin);
    await ask(agent, host.origin);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000);
    await ask(agent, host.origin);
    await ask(agent, host.origin);
    expect(host.used).toEqual(['GET 1', 'GET 1', 'GET 1', 'GET 2']);
  });
});
