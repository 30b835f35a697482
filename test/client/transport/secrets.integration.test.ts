import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';

import { toFailure } from '../../../src/host/failure.ts';
import { apiKey, openDaemonClient } from '../daemon-client.ts';
import { startHost, takeAll } from '../upload-host.ts';
import type { Handler, HostOptions } from '../upload-host.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const token = 'tok_98ab76cd54ef';
const signature = 'c2lnbmF0dXJlLW9mLXRoZS1hZGRyZXNz';
const path = `/u/${token}?X-Signature=${signature}&v=2`;

/** Everything about an error that may end up in a log, a ledger or on a screen. */
function printed(error: unknown): string {
  const parts: unknown[] = [error];
  for (let cause = error; cause instanceof Error; cause = cause.cause) parts.push(cause.message, cause.stack, cause);
  const texts = parts.flatMap((part) => [
    String(part),
    JSON.stringify(part),
    inspect(part, { depth: 20, showHidden: true, getters: true }),
  ]);
  return [...texts, JSON.stringify(toFailure(error))].join('\n');
}

function expectClean(error: unknown): void {
  expect(error).toBeInstanceOf(Error);
  const text = printed(error);
  for (const secret of [apiKey, token, signature, path]) expect(text).not.toContain(secret);
}

/** A server that gives everything away that it was told. */
const echo: Handler = (request, response) => {
  request.resume();
  const body = `url ${request.url} at http://${request.headers.host}${request.url} with ${request.headers.authorization}`;
  // In the API's answers the key stands alone, in those of the upload address the token of its path.
  const said =
    request.url?.startsWith('/u/') === true ? token : (request.headers.authorization?.slice('Bearer '.length) ?? '');
  const location = `https://elsewhere.example.com${request.url}`;
  const headers = { 'x-request-id': said, location, connection: 'close' };
  response
    .writeHead(statusOf(request.headers['user-agent']), headers)
    .end(JSON.stringify({ error: { code: said, message: body } }));
};

/** The status to answer travels in the user agent: it is the one thing the client sends that no test looks at. */
function statusOf(userAgent: string | undefined): number {
  return Number(userAgent?.split('/')[1] ?? 500);
}

const statuses = [302, 400, 401, 402, 403, 404, 408, 409, 410, 413, 417, 422, 425, 429, 500, 503];

describe('no error shows the key or a signed address', () => {
  test.each(statuses)('when the service answers %i and echoes them', async (status) => {
    await using host = await startHost(echo);
    await using opened = openDaemonClient(host.origin, { userAgent: `dropcast/${status}` });
    expectClean(await opened.client.feeds.list().catch((error: unknown) => error));
  });

  test.each<[string, Handler]>([
    ['never answers', () => {}],
    ['closes', (request) => request.socket.destroy()],
    ['answers rubbish', (request) => request.socket.end(`rubbish ${request.headers.authorization}\r\n\r\n`)],
  ])('when the service %s', async (_, handler) => {
    await using host = await startHost(handler);
    await using opened = openDaemonClient(host.origin, { timeoutMs: 100 });
    expectClean(await opened.client.feeds.list().catch((error: unknown) => error));
  });

  async function uploading(handler: Handler, options: HostOptions = {}, status = 500): Promise<unknown> {
    await using host = await startHost(handler, options);
    await using opened = openDaemonClient(host.origin, { sendKeyTo: [host.origin], userAgent: `dropcast/${status}` });
    await using folder = await scratchDirectory();
    const file = await folder.write('clip.mp4', Buffer.alloc(3_000_000));
    const timeouts = { stallTimeoutMs: 300, answerTimeoutMs: 300 };
    return await opened.send(file, `${host.origin}${path}`, timeouts).catch((error: unknown) => error);
  }

  test.each(statuses)('when the upload address answers %i and echoes them', async (status) => {
    expectClean(await uploading(echo, { onExpect: echo }, status));
  });

  test.each<[string, Handler]>([
    ['resets', (request) => (request.resume(), request.once('data', () => request.socket.resetAndDestroy()))],
    ['answers rubbish', (request) => request.socket.end(`rubbish ${request.url}\r\n\r\n`)],
    ['closes', (request) => request.socket.end()],
    ['never answers', (request) => request.resume()],
    ['succeeds too early', (_, response) => response.writeHead(200).end()],
  ])('when the upload address %s', async (_, handler) => {
    expectClean(await uploading(handler));
  });

  test('when the address is unusable', async () => {
    await using opened = openDaemonClient('http://127.0.0.1:1', { sendKeyTo: [] });
    await using folder = await scratchDirectory();
    const file = await folder.write('clip.mp4', 'x');
    for (const url of [
      `http://up.example.com${path}`,
      `ftp://u:${apiKey}@up.example.com${path}`,
      `https:// ${path}`,
      `http://127.0.0.1:1${path}`,
    ]) {
      expectClean(await opened.send(file, url).catch((error: unknown) => error));
    }
  });
});

describe('the key', () => {
  test('is sent to an upload address only at the origin of the service or at one that was named', async () => {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    const file = await folder.write('clip.mp4', 'x');
    const elsewhere = 'http://127.0.0.1:1';
    for (const [service, sendKeyTo] of [
      [elsewhere, []],
      [elsewhere, ['http://127.0.0.1:2']],
      [elsewhere, [`${host.origin}/`]],
      [host.origin, []],
    ] as const) {
      await using opened = openDaemonClient(`${service}/v1`, { sendKeyTo });
      await opened.send(file, `${host.origin}${path}`);
    }
    const key = `Bearer ${apiKey}`;
    expect(host.seen.map((seen) => seen.headers.authorization)).toEqual([undefined, undefined, key, key]);
  });

  test('does not follow a redirect of the service to another origin', async () => {
    await using other = await startHost(takeAll());
    await using host = await startHost((_, response) =>
      response.writeHead(307, { location: `${other.origin}/steal` }).end(),
    );
    await using opened = openDaemonClient(host.origin);
    await expect(opened.client.feeds.list()).rejects.toThrow(/redirect/);
    await expect(opened.client.videos.create({ title: 'T' })).rejects.toThrow(/redirect/);
    expect(other.seen).toEqual([]);
  });
});
