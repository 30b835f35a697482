import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import { toFailure } from '../../src/host/failure.ts';
import { openDaemonClient } from '../client/daemon-client.ts';
import type { Opened } from '../client/daemon-client.ts';
import { startHost, takeAll } from '../client/upload-host.ts';
import { listen, type RunningServer } from '../support/server.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** A server that answers with bytes of its own, as no library would. */
function startRaw(answer: (socket: Socket) => void): Promise<RunningServer> {
  const server = createServer((socket) => {
    socket.once('data', () => answer(socket));
    socket.resume();
  });
  return listen(server);
}

/** Writes the pieces for as long as somebody listens. */
function drip(socket: Socket, beginning: string, piece: string): void {
  socket.write(beginning);
  const timer = setInterval(() => socket.write(piece), 20);
  socket.on('close', () => clearInterval(timer));
}

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

async function listingFeeds(answer: (socket: Socket) => void, timeoutMs = 20_000): Promise<unknown> {
  await using server = await startRaw(answer);
  await using opened = openDaemonClient(server.origin, { timeoutMs });
  return await listing(opened);
}

function listing({ client }: Opened): Promise<unknown> {
  return client.feeds.list().catch((error: unknown) => error);
}

describe('an answer of the service', () => {
  test.each<[string, (socket: Socket) => void, string]>([
    ['has a head without end', (socket) => drip(socket, head, `x: ${'x'.repeat(60_000)}\r\n`), 'ConnectionError'],
    ['has headers without number', (socket) => drip(socket, head, 'a: b\r\n'.repeat(10_000)), 'ConnectionError'],
    ['comes byte by byte', (socket) => drip(socket, `${head}content-length: 9999\r\n\r\n`, '{'), 'RequestTimeoutError'],
    ['is always about to come', (socket) => drip(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n'), 'RequestTimeoutError'],
    [
      'has two lengths',
      (socket) => socket.end(`${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
      'ConnectionError',
    ],
    ['is two answers', (socket) => socket.end(`${head}x: 1\rset-cookie: a=b\r\n\r\n{}`), 'ConnectionError'],
    ['is not HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), 'ConnectionError'],
  ])('that %s is an error in time', async (_, answer, name) => {
    const timeoutMs = name === 'RequestTimeoutError' ? 400 : undefined;
    expect(await listingFeeds(answer, timeoutMs)).toMatchObject({ name });
  });

  test('that is packed is not unpacked: 50 MB of it stay 50 kB', async () => {
    const packed = gzipSync(Buffer.alloc(50_000_000, ' '));
    const error = await listingFeeds((socket) => {
      socket.write(`${head}content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`);
      socket.end(packed);
    });
    expect(packed.length).toBeLessThan(60_000);
    expect(error).toMatchObject({ name: 'UnreadableAnswerError' });
  });

  test.each([
    ['lists in lists', `{"data":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
    ['objects in objects', `{"data":[${'{"id":'.repeat(200_000)}1${'}'.repeat(200_000)}]}`],
  ])('with %s, and no end of them, holds no feed and breaks nothing', async (_, body) => {
    const answer = (socket: Socket) => socket.end(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    expect(await listingFeeds(answer)).toEqual([]);
  });

  test('that names keys of the language changes no object but its own', async () => {
    const body = '{"data":[{"id":"f1","__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}]}';
    const feeds = await listingFeeds((socket) => socket.end(`${head}content-length: ${body.length}\r\n\r\n${body}`));
    expect(feeds).toEqual([{ id: 'f1', name: '', type: '', channelId: '', url: '' }]);
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
  });

  test.each([
    ['javascript:alert(1)', 'null'],
    ['https://user:geheim@evil.example/path?token=geheim', 'https://evil.example'],
    ['//evil.example/%0d%0aset-cookie:%20a=b', 'http://evil.example'],
    ['http://[', 'nowhere'],
    [`https://evil.example/${'geheim'.repeat(1_000)}`, 'https://evil.example'],
  ])('that leads to %s is never followed, and shown as its origin alone', async (location, shown) => {
    const error = await listingFeeds((socket) => socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\n\r\n`));
    expect(error).toMatchObject({ name: 'RedirectError' });
    expect((error as Error).message).toContain(`a redirect to ${shown}, which is never followed`);
    expect((error as Error).message).not.toMatch(/geheim|alert|cookie/);
  });

  test.each(['99999999999999999999', '1e9', 'Infinity', '-1', 'Fri, 31 Dec 9999 23:59:59 GMT', '0x7fffffff', '5, 9'])(
    'that asks to wait for %s is waited for an hour at most',
    async (retryAfter) => {
      const error = await listingFeeds((socket) =>
        socket.end(`HTTP/1.1 429 Too Many Requests\r\nretry-after: ${retryAfter}\r\ncontent-length: 0\r\n\r\n`),
      );
      expect(error).toMatchObject({ name: 'RateLimitedError' });
      const { retryAfterMs = 1_000 } = toFailure(error);
      expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
      expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
    },
  );
});

describe('an answer of the upload address', () => {
  test.each<[string, string, string, string]>([
    ['its head comes byte by byte', 'HTTP/1.1 200 OK\r\nx: ', 'x', 'no_answer'],
    ['it is always about to come', '', 'HTTP/1.1 102 Processing\r\n\r\n', 'no_answer'],
    // It began too early, so that the body is held back and no byte moves any more.
    ['its body comes byte by byte', 'HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n', 'x', 'upload_stalled'],
  ])('is not awaited for ever when %s', async (_, beginning, piece, code) => {
    await using server = await startRaw((socket) => drip(socket, `HTTP/1.1 100 Continue\r\n\r\n${beginning}`, piece));
    await using opened = openDaemonClient('http://127.0.0.1:1');
    await using folder = await scratchDirectory();
    const sending = opened.send(await folder.write('clip.mp4', 'the film'), `${server.origin}/u`, {
      stallTimeoutMs: code === 'upload_stalled' ? 300 : 60_000,
      answerTimeoutMs: code === 'no_answer' ? 300 : 60_000,
    });
    await expect(sending).rejects.toMatchObject({ name: 'UploadStalledError', code });
  });
});

test.each(['clip\r\nx-forged: 1.mp4', 'clip".mp4', 'clip\u0001.mp4', 'clip.\r\nmp4', 'ü\u202E4pm.mp4'])(
  'a file called %j puts nothing into the head of a request',
  async (name) => {
    await using host = await startHost(takeAll());
    await using opened = openDaemonClient('http://127.0.0.1:1');
    await using folder = await scratchDirectory();
    await opened.send(await folder.write(name, 'x'), `${host.origin}/u`);
    const headers = host.seen[0]?.headers ?? {};
    expect(Object.keys(headers).toSorted()).toEqual(
      ['accept-encoding', 'connection', 'content-length', 'content-type', 'expect', 'host', 'user-agent'].toSorted(),
    );
    expect(headers['content-type']).toMatch(/^(video\/mp4|application\/octet-stream)$/);
  },
);
