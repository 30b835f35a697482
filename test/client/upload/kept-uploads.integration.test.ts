import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { ConnectionError } from '../../../packages/client/src/errors.ts';
import { freshConnections, keptConnections } from '../../../packages/client/src/transport/connection.ts';
import { Transport } from '../../../packages/client/src/transport/transport.ts';
import type { UploadWorld } from '../../../packages/client/src/upload/upload-request.ts';
import { seekableOf } from '../../../packages/client/src/upload/upload-source.ts';
import { createUploadTargets } from '../../../packages/client/src/upload/upload-targets.ts';
import { listFeeds } from '../../../packages/client/src/wire/requests.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { startHost, takeAll } from '../upload-host.ts';
import type { Handler, Host } from '../upload-host.ts';
import { putFile } from './put-file.ts';

let folder: ScratchDirectory;

beforeEach(async () => {
  folder = await scratchDirectory();
});

afterEach(() => folder[Symbol.asyncDispose]());

/** Numbers the connections of requests, from 1. */
function numbering(): (request: IncomingMessage) => number {
  const numbers = new Map<Socket, number>();
  return ({ socket }) => {
    const number = numbers.get(socket) ?? numbers.size + 1;
    numbers.set(socket, number);
    return number;
  };
}

/** A host that notes the connection of each request. `again` handles the second request of the first connection. */
async function startNoting(again: Handler, answer: Handler = takeAll()) {
  const used: number[] = [];
  const numberOf = numbering();
  const handle: Handler = (request, response, seen) => {
    const number = numberOf(request);
    const isAgain = number === 1 && used.includes(1);
    used.push(number);
    return (isAgain ? again : answer)(request, response, seen);
  };
  const host = await startHost(handle, { onExpect: handle });
  return { ...host, used };
}

const continued: Handler = (request, response, seen) => {
  response.writeContinue();
  takeAll()(request, response, seen);
};

function worldOf(refusesExpect = new Set<string>()): UploadWorld & Disposable {
  const [kept, fresh] = [keptConnections({}, {}, Infinity), freshConnections({})];
  const targets = createUploadTargets({ baseUrl: 'http://127.0.0.1:1', named: new Set() });
  return {
    kept,
    fresh,
    userAgent: 'dropcast-test',
    targets,
    refusesExpect,
    keyFor: () => null,
    [Symbol.dispose]: () => {
      kept[Symbol.dispose]();
      fresh[Symbol.dispose]();
    },
  };
}

async function put({ origin }: Host, world: UploadWorld, content = 'the film'): Promise<number> {
  const { sizeBytes, openReader } = await seekableOf(await folder.write('clip.mp4', content));
  await using reader = await openReader();
  const signal = new AbortController().signal;
  const options = { url: `${origin}/put`, headers: {}, signal, stallTimeoutMs: 5_000, beforeLastPart: async () => {} };
  return (await putFile({ reader, sizeBytes }, options, world)).bytes;
}

test('uploads to one host use one connection after the other', async () => {
  await using host = await startNoting(continued, continued);
  using world = worldOf();
  for (let n = 0; n < 3; n += 1) expect(await put(host, world)).toBe(8);
  expect(host.used).toEqual([1, 1, 1]);
});

test('a kept connection that the host has closed is replaced before a byte of the file was read', async () => {
  await using host = await startNoting((request) => request.socket.resetAndDestroy(), continued);
  using world = worldOf();
  await put(host, world);
  expect(await put(host, world)).toBe(8);
  expect(host.used).toEqual([1, 1, 2]);
  expect(host.seen.filter(({ isComplete }) => isComplete)).toHaveLength(2);
});

test('a kept connection that breaks after a part of the file was sent is a failure of the upload', async () => {
  const breaks: Handler = (request, response) => {
    response.writeContinue();
    request.once('data', () => request.socket.resetAndDestroy()).resume();
  };
  await using host = await startNoting(breaks, continued);
  using world = worldOf();
  await put(host, world);
  await expect(put(host, world)).rejects.toBeInstanceOf(ConnectionError);
  expect(host.used).toEqual([1, 1]);
});

test('a file without bytes gets a fresh connection, because its headers are the whole request', async () => {
  await using host = await startNoting(continued, continued);
  using world = worldOf();
  await put(host, world);
  await put(host, world, '');
  expect(host.used).toEqual([1, 2]);
});

test('a host that refuses Expect gets a fresh connection for each file, because the body starts at once', async () => {
  await using host = await startNoting(takeAll());
  using world = worldOf(new Set([host.origin]));
  for (let n = 0; n < 2; n += 1) await put(host, world);
  expect(host.used).toEqual([1, 2]);
});

test('a hundred uploads at a time have a connection each, and requests to the service do not wait for them', async () => {
  const held: (() => void)[] = [];
  const hold: Handler = ({ method }, response) =>
    method === 'HEAD' ? void held.push(() => response.end()) : void response.end('{"data":[]}');
  await using host = await startNoting(hold, hold);
  await using transport = new Transport({
    baseUrl: host.origin,
    apiKey: { reveal: () => 'key' },
    sendKeyTo: [],
    timeoutMs: 60_000,
    proxyEnv: {},
  });
  const { signal } = new AbortController();
  const question = { method: 'HEAD', url: `${host.origin}/put`, headers: {}, body: null, signal } as const;
  const asked = Array.from({ length: 100 }, () => transport.upload({ ...question, stallTimeoutMs: 60_000 }));
  await until('all are there', () => held.length === 100);
  expect(await transport.ask(listFeeds(), { signal })).toMatchObject({ status: 200 });
  for (const answer of held) answer();
  expect(await Promise.all(asked)).toHaveLength(100);
});
