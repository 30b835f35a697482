import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSandbox, type RunningSandbox } from '../running-sandbox.ts';

let service: RunningSandbox;
beforeAll(async () => {
  service = await runSandbox({ ffmpegPath: null });
});
afterAll(() => service.sandbox.close());

/** Sends a body for as long as the connection lasts. @returns the status of the answer, which came meanwhile */
async function sendWithoutEnd(
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  const { port } = service.sandbox;
  const asking = request({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: { ...headers, 'transfer-encoding': 'chunked' },
  });
  let status: number | undefined;
  asking.on('response', (response) => (status = response.statusCode)).on('error', () => undefined);
  asking.flushHeaders();
  const sending = setInterval(() => asking.write('x'.repeat(50_000)), 20);
  // Not `once`: the reset that cuts the body off would be thrown.
  await new Promise((resolve) => asking.on('close', resolve));
  clearInterval(sending);
  return status;
}

test.concurrent.each([
  ['GET', '/v1/channels', 200],
  ['GET', '/feeds/feed_main.xml', 200],
  ['GET', '/cdn/artwork/ch_main.png', 200],
  ['GET', '/nowhere', 404],
  ['POST', '/v1/videos', 413],
  ['PUT', '/uploads/vid_nobody/token', 404],
  ['POST', '/embed/vid_nobody/plays', 413],
])('%s %s with a body that never ends is answered, and cut off soon', async (method, path, status) => {
  const authorization = `Bearer ${service.sandbox.apiKey}`;
  const asked = sendWithoutEnd(method, path, { authorization, 'content-type': 'application/json' });
  expect(await asked).toBe(status);
});
