import { lookup as systemLookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, test, vi } from 'vitest';

import { ConnectionError } from '../../../packages/client/src/errors.ts';
import { connectTimeouts, freshConnections, Line } from '../../../packages/client/src/transport/connection.ts';
import { exchange } from '../../../packages/client/src/transport/exchange.ts';
import type { Exchange } from '../../../packages/client/src/transport/exchange.ts';
import { lookupWith, resolveName } from '../../../packages/client/src/transport/name-lookup.ts';
import { listen, startServer } from '../../support/server.ts';

vi.mock('node:dns/promises', async (load) => ({ ...(await load<object>()), lookup: vi.fn() }));

function ask(url: string, options: Partial<Exchange> = {}) {
  return exchange({
    what: 'list feeds',
    url: new URL(url),
    method: 'GET',
    headers: {},
    agent: freshConnections({}),
    line: new Line(),
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    ...options,
  });
}

const leadingTo = (...addresses: readonly string[]) =>
  lookupWith(async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));

describe('a name with two addresses', () => {
  test('is reached by IPv4 where nothing listens by IPv6, and the other way round', async () => {
    await using host = await startServer((_, response) => response.end('{}'));
    for (const addresses of [
      ['::1', '127.0.0.1'],
      ['127.0.0.1', '::1'],
      ['127.0.0.2', '127.0.0.1'],
    ])
      expect(await ask(`http://localhost:${host.port}`, { lookup: leadingTo(...addresses) })).toMatchObject({
        status: 200,
      });
  });

  test('is reached by the first one when its first packet is lost', async () => {
    await using busy = await startBusyServer();
    const lookup = lookupWith(async () => {
      // The first packet leaves before.
      setImmediate(busy.release);
      return [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ];
    });
    const answer = await ask(`http://localhost:${busy.port}`, { lookup });
    expect(answer.status).toBe(200);
  });

  test('of which each fails for its own reason is reported with both', async () => {
    const gone = await listen(createServer());
    await gone[Symbol.asyncDispose]();
    // 240.0.0.0/4 is reserved (RFC 1112 section 4): the kernel refuses to connect there.
    const failed = ask(`http://localhost:${gone.port}`, { lookup: leadingTo('127.0.0.1', '255.255.255.255') });
    const error = await failed.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toMatch(
      /cannot be reached: 127\.0\.0\.1: nothing listens there \(ECONNREFUSED\); 255\.255\.255\.255: .+ \((ENETUNREACH|EACCES)\)$/,
    );
  });
});

describe('the name server', () => {
  const slow = vi.mocked(systemLookup);

  test('gets one query for all connections that wait for a name, and another one for the next', async () => {
    const found = Promise.withResolvers<readonly { address: string; family: number }[]>();
    slow.mockImplementation((() => found.promise) as never);
    const waiting = [1, 2, 3, 4, 5].map(() => resolveName('video.example.com', { family: 0 }));
    void resolveName('upload.example.com', { family: 0 });
    expect(slow.mock.calls.map(([name]) => name)).toEqual(['video.example.com', 'upload.example.com']);
    found.resolve([{ address: '127.0.0.1', family: 4 }]);
    expect((await Promise.all(waiting)).map(([first]) => first?.address)).toEqual(Array(5).fill('127.0.0.1'));
    await resolveName('video.example.com', { family: 0 });
    expect(slow).toHaveBeenCalledTimes(3);
  });

  test('gets another query after a failure', async () => {
    slow.mockReset().mockRejectedValueOnce(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }));
    await expect(resolveName('video.example.com', { family: 0 })).rejects.toThrow('no');
    slow.mockResolvedValueOnce([] as never);
    expect(await resolveName('video.example.com', { family: 0 })).toEqual([]);
  });

  test('that does not answer is named instead of the service', async () => {
    slow.mockReset().mockImplementation((() => new Promise(() => {})) as never);
    vi.spyOn(connectTimeouts as { lookup: number }, 'lookup', 'get').mockReturnValue(50);
    const error = await ask('https://video.example.com').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'RequestTimeoutError', code: 'lookup_timeout', sent: false });
    expect(String(error)).toContain('https://video.example.com cannot be reached: the name server of this machine');
  });
});

/**
 * A server on 127.0.0.1 that accepts nothing until it is released, and whose queue of connections is full: the kernel
 * drops the first packet of another one, which the client sends again after a second.
 */
async function startBusyServer() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const server = require('node:http').createServer((_, response) => response.end('{}'));
     server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(workerData, 0, 0);
     });`,
    { eval: true, workerData: gate },
  );
  const [port] = (await once(worker, 'message')) as [number];
  const queue = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(queue.slice(0, 2).map((socket) => once(socket, 'connect')));
  const release = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return {
    port,
    release,
    [Symbol.asyncDispose]: async () => {
      release();
      for (const socket of queue) socket.destroy();
      await worker.terminate();
    },
  };
}
