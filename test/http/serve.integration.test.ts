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

type Target = { readonly port: number; readonly host: string } | { readonly path: string };

describe.each(['a port', 'a unix socket'])('%s', (kind) => {
  let target: Target;

  async function serve(limits?: Partial<HttpLimits>): Promise<HttpServer> {
    const path = scratch.file('x.sock');
    const place = kind === 'a port' ? { host: '127.0.0.1', port: 0 } : { path, mode: 0o660 };
    const server = await serveHttp(count, place, limits);
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
  ])('takes a body of 64 KiB and no more: %i bytes', async (bytes, answer) => {
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
