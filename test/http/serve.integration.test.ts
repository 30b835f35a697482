import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { limitedBody } from '../../src/http/limited-body.ts';
import { serveHttp } from '../../src/http/serve.ts';
import type { HttpLimits, HttpServer } from '../../src/http/serve.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';

let scratch: ScratchDirectory;
beforeEach(async () => {
  scratch = await scratchDirectory();
});
afterEach(() => scratch[Symbol.asyncDispose]());

/** Answers with the number of bytes that it received. */
async function count(received: Request): Promise<Response> {
  const body = await limitedBody(received);
  return body === null ? new Response('too much', { status: 413 }) : new Response(String(body.length));
}

const question = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

/** More than the buffers of two sockets hold. */
const large = 'x'.repeat(16 * 1024 * 1024);

type Answer = (received: Request) => Response | Promise<Response>;

function inTwoParts(rest: Promise<void>): Response {
  const encoder = new TextEncoder();
  return new Response(
    new ReadableStream({
      start: async (controller) => {
        controller.enqueue(encoder.encode('first'));
        await rest;
        controller.enqueue(encoder.encode('second'));
        controller.close();
      },
    }),
  );
}

async function textUntilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  await once(socket, 'close');
  return text;
}

type Target = { readonly port: number; readonly host: string } | { readonly path: string };

describe.each(['a port', 'a unix socket'])('%s', (kind) => {
  let target: Target;

  let handled: number;

  async function serve(limits?: Partial<HttpLimits>, answer: Answer = count): Promise<HttpServer> {
    const path = scratch.file('x.sock');
    const place = kind === 'a port' ? { host: '127.0.0.1', port: 0 } : { path, mode: 0o660 };
    handled = 0;
    const counted: Answer = (received) => {
      handled += 1;
      return answer(received);
    };
    const server = await serveHttp(counted, place, limits);
    target = kind === 'a port' ? { host: '127.0.0.1', port: server.port } : { path };
    return server;
  }

  async function open(): Promise<Socket> {
    const socket = connect(target);
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  function post(body: Buffer, headers: Readonly<Record<string, string | number>>): Promise<string> {
    const at = 'path' in target ? { socketPath: target.path } : target;
    return new Promise((resolve, reject) => {
      const call = request({ ...at, path: '/', method: 'POST', headers, agent: false }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () => resolve(text));
      });
      call.on('error', reject);
      call.end(body);
    });
  }

  test.each([
    [64 * 1024, '65536'],
    [64 * 1024 + 1, 'too much'],
  ])('takes a body of at most 64 KiB: %i bytes', async (bytes, answer) => {
    await using server = await serve();
    expect(server).toBeDefined();
    const body = Buffer.alloc(bytes);
    expect(await post(body, { 'content-length': bytes })).toBe(answer);
    expect(await post(body, { 'transfer-encoding': 'chunked' })).toBe(answer);
  });

  test.each([
    ['says nothing', ''],
    ['never ends its head', 'GET / HTTP/1.1\r\nhost: x\r\nx-slow: '],
    ['never ends its body', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{'],
    ['never ends its chunks', 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n'],
  ])('does not wait for a caller that %s', async (_, beginning) => {
    await using server = await serve({ requestMs: 100 });
    expect(server).toBeDefined();
    const socket = await open();
    const closed = once(socket.resume(), 'close');
    socket.write(beginning);
    await closed;
  });

  test('has room for a number of connections, and again for others when one goes', async () => {
    await using server = await serve({ connections: 2 });
    expect(server).toBeDefined();
    const held = [await open(), await open()];
    const refused = await open();
    await once(refused.resume(), 'close');
    for (const socket of held) socket.destroy();
    await expect.poll(() => post(Buffer.from('x'), {}).catch(() => 'refused')).toBe('1');
  });

  describe('a connection', () => {
    test.each([
      ['questions', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
      ['questions without a host', 'GET / HTTP/1.1\r\n\r\n'],
      ['questions with an expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: x\r\n\r\n'],
      ['questions of HTTP/1.0', 'GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n'],
      ['bodies', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\n{'],
      ['bodies in chunks', 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n'],
    ])('with %s that do not wait for an answer gets one answer, and closes', async (_, one) => {
      await using server = await serve();
      expect(server).toBeDefined();
      const socket = await open();
      const answers = textUntilClosed(socket);
      socket.write(one.repeat(2_000));
      expect((await answers).match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
      expect(handled).toBeLessThanOrEqual(1);
    });

    test('may ask again and again when it waits for the answers', async () => {
      await using server = await serve();
      expect(server).toBeDefined();
      const socket = await open();
      for (let asked = 1; asked <= 3; asked += 1) {
        socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}');
        const [answer] = (await once(socket, 'data')) as [Buffer];
        expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
        expect(handled).toBe(asked);
      }
      socket.destroy();
    });

    test('whose answer began may send what it likes: it is dropped, and the answer ends', async () => {
      const rest = Promise.withResolvers<void>();
      await using server = await serve({}, (received) =>
        received.method === 'GET' ? inTwoParts(rest.promise) : count(received),
      );
      expect(server).toBeDefined();
      const socket = await open();
      const answers = textUntilClosed(socket);
      socket.write(question);
      await once(socket, 'data');
      await new Promise((resolve) => socket.write(question.repeat(2_000), resolve));
      // By then the server has received the others.
      await post(Buffer.from('x'), {});
      rest.resolve();
      expect(await answers).toMatch(/first[^]*second/);
      expect(handled).toBe(2);
    });

    test('that reads no answer is closed', async () => {
      const closed = Promise.withResolvers<void>();
      await using server = await serve({ requestMs: 100 }, async ({ signal }) => {
        signal.addEventListener('abort', () => closed.resolve());
        return new Response(large);
      });
      expect(server).toBeDefined();
      const socket = await open();
      socket.write(question);
      await closed.promise;
      socket.destroy();
    });
  });

  test('keeps a number of bytes that no one reads, and closes the connections that have waited longest', async () => {
    const closed: number[] = [];
    await using server = await serve({ unreadBytes: 3.5 * large.length }, async ({ signal }) => {
      const n = handled;
      signal.addEventListener('abort', () => closed.push(n));
      return new Response(large);
    });
    expect(server).toBeDefined();
    const sockets: Socket[] = [];
    for (let n = 1; n <= 6; n += 1) {
      const socket = await open();
      sockets.push(socket);
      socket.write(question);
      await expect.poll(() => handled).toBe(n);
    }
    await expect.poll(() => closed).toEqual([1, 2, 3]);
    const last = textUntilClosed(sockets[5] as Socket);
    sockets[5]?.end();
    expect((await last).length).toBeGreaterThan(large.length);
    for (const socket of sockets) socket.destroy();
  });

  test('begins one request in each turn of the event loop, however many arrive at once', async () => {
    let turn = 0;
    const turns: number[] = [];
    await using server = await serve({}, () => {
      turns.push(turn);
      return new Response('');
    });
    expect(server).toBeDefined();
    const sockets = await Promise.all(Array.from({ length: 50 }, open));
    const clock = setInterval(() => (turn += 1), 0);
    const count = (): void => {
      turn += 1;
      if (turns.length < 50) setImmediate(count);
    };
    for (const socket of sockets) socket.write(question);
    count();
    await expect.poll(() => turns.length).toBe(50);
    clearInterval(clock);
    expect(new Set(turns).size).toBe(50);
    for (const socket of sockets) socket.destroy();
  });

  test('closes all connections when it ends', async () => {
    const server = await serve();
    const socket = await open();
    const closed = once(socket.resume(), 'close');
    await server[Symbol.asyncDispose]();
    await closed;
  });
});

test.each([0o600, 0o660])('a unix socket has its mode (%o) whatever the umask', async (mode) => {
  const before = process.umask(0);
  try {
    await using server = await serveHttp(count, { path: scratch.file('x.sock'), mode });
    expect(server.port).toBe(0);
    expect((await stat(scratch.file('x.sock'))).mode & 0o777).toBe(mode);
    expect(process.umask()).toBe(0);
  } finally {
    process.umask(before);
  }
});
