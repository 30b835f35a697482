import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BodyValve } from '../../../packages/sandbox/src/faults/body-valve.ts';
import { listen, type RunningServer } from '../../support/server.ts';
import { until } from '../running-sandbox.ts';

/** Answers each request as the test says. */
let onRequest: (request: IncomingMessage, valve: BodyValve) => Promise<unknown>;
const valved = createServer({ highWaterMark: 1 << 20 }, (incoming, response) => {
  const valve = new BodyValve(incoming);
  void onRequest(incoming, valve).then((answer) => response.end(String(answer)));
});
let server: RunningServer;
beforeAll(async () => {
  server = await listen(valved);
});
afterAll(() => server[Symbol.asyncDispose]());

const address = () => server.origin;
const send = async (body: string) => (await fetch(address(), { method: 'PUT', body })).text();

test('passes the whole body in order, in portions of any size', async () => {
  const body = Array.from({ length: 50_000 }, (_, number) => number).join(' ');
  onRequest = async (incoming, valve) => {
    const portions = setInterval(() => valve.isSpent && valve.allow(20_000), 1);
    const read = (await buffer(incoming)).toString();
    clearInterval(portions);
    return read === body;
  };
  expect(await send(body)).toBe('true');
});

test('an empty body ends at once', async () => {
  onRequest = async (incoming) => (await buffer(incoming)).length;
  expect(await send('')).toBe('0');
});

test('peeks at the body before any of it passes', async () => {
  onRequest = async (incoming, valve) => {
    const shown = await valve.peek(100);
    const length = incoming.readableLength;
    valve.allow(Infinity);
    return `${String(shown)}, ${length} before, ${String(await buffer(incoming))} after`;
  };
  expect(await send('{"a":1}')).toBe('{"a":1}, 0 before, {"a":1} after');
});

test('peek returns nothing for a body that is too long or interrupted', async () => {
  onRequest = async (incoming, valve) => {
    const shown = await valve.peek(100);
    valve.allow(Infinity);
    return `${String(shown)}, ${(await buffer(incoming)).length}`;
  };
  expect(await send('x'.repeat(101))).toBe('undefined, 101');
  let shown: unknown = 'not asked';
  onRequest = async (_incoming, valve) => {
    shown = 'asked';
    return (shown = await valve.peek(100));
  };
  const broken = request(address(), { method: 'PUT', headers: { 'content-length': 50 } });
  broken.on('error', () => undefined);
  broken.write('x');
  await until(() => (shown === 'asked' ? true : undefined));
  broken.destroy();
  await until(() => (shown === undefined ? true : undefined));
});

test('stops the connection while it holds something back', async () => {
  let received: IncomingMessage | undefined;
  onRequest = async (incoming, valve) => {
    received = incoming;
    valve.allow(1000);
    return buffer(incoming).catch(() => 'cut');
  };
  const sizeBytes = 64 * 1024 * 1024;
  const upload = request(address(), { method: 'PUT', headers: { 'content-length': sizeBytes } });
  upload.on('error', () => undefined);
  upload.end(Buffer.alloc(sizeBytes));
  let readBytes: number[] = [];
  await until(() => {
    readBytes = [...readBytes, received?.socket.bytesRead ?? 0].slice(-10);
    return readBytes.length === 10 && readBytes[0] !== 0 && readBytes[0] === readBytes.at(-1) ? true : undefined;
  });
  upload.destroy();
  expect(readBytes[0]).toBeLessThan(sizeBytes / 8);
});

test('reports when all allowed bytes have passed', async () => {
  onRequest = async (incoming, valve) => {
    let spentAt = -1;
    let passed = 0;
    incoming.on('data', (chunk: Buffer) => (passed += chunk.length));
    valve.onSpent = () => {
      spentAt = passed + incoming.readableLength;
      valve.onSpent = () => undefined;
      valve.allow(Infinity);
    };
    valve.allow(700);
    await once(incoming, 'end');
    return `${spentAt} of ${passed}`;
  };
  expect(await send('x'.repeat(1000))).toBe('700 of 1000');
});
