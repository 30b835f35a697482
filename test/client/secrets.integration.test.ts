import { inspect } from 'node:util';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';

import type { VideoClient } from '../../packages/client/src/video-client.ts';
import { apiKey } from './daemon-client.ts';
import { startHost } from './upload-host.ts';
import type { Handler } from './upload-host.ts';
import type { WaitNote } from '../../packages/client/src/waiting.ts';
import { failure, openClient } from './open-client.ts';
import type { OpenedClient } from './open-client.ts';
import { losesAnswer, startTinyService, uploadPath } from './tiny-service.ts';

const uploadToken = 'tok_5f0c1be2aa77';
const uploadSignature = 'c2lnbmF0dXJl';
const secrets = [apiKey, uploadToken, uploadSignature];

/** Everything of a value that may end up in a log or on a screen. */
function printed(value: unknown): string {
  const parts: unknown[] = [value];
  for (let cause = value; cause instanceof Error; cause = cause.cause) parts.push(cause.message, cause.stack, cause);
  return parts
    .flatMap((part) => [
      String(part),
      JSON.stringify(part) ?? '',
      inspect(part, { depth: 30, showHidden: true, getters: true }),
    ])
    .join('\n');
}

function expectClean(...values: unknown[]): void {
  for (const value of values) {
    const text = printed(value);
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
}

function expectAllClean(opened: OpenedClient, ...values: unknown[]): void {
  expectClean(opened.client, opened.requests, opened.responses, ...values);
}

/** Tells the key wherever an answer can hold something, and the upload address to those who know it. */
function echo(status: number, address = ''): Handler {
  return (request, response) => {
    request.resume();
    const said = `${request.headers.authorization} ${address}`;
    const headers = {
      'content-type': 'application/json',
      'x-request-id': request.method === 'PUT' ? uploadToken : apiKey,
      location: `https://elsewhere.example.com${uploadPath}`,
      connection: 'close',
    };
    response.writeHead(status, headers).end(JSON.stringify({ error: { code: said, message: said } }));
  };
}

const calls: ((client: VideoClient) => Promise<unknown>)[] = [
  (client) => client.videos.get('v'),
  (client) => client.videos.list().toArray(),
  (client) => client.videos.create({ title: 'T' }),
  (client) => client.videos.update('v', { title: 'T' }),
  (client) => client.videos.delete('v'),
  (client) => client.feeds.publish('f'),
  (client) => client.videos.waitUntilReady('v'),
];

describe('nothing that can be printed shows the key', () => {
  test('of a client, whatever holds it', async () => {
    await using opened = openClient('https://video.example.com/v1');
    expectClean(opened.client, opened.client.videos, opened.client.videos.list(), { deep: [opened.client] });
    expect(Object.keys(opened.client)).toEqual(['videos', 'channels', 'feeds', 'analytics', 'request']);
  });

  test.each([302, 400, 401, 403, 404, 422, 429, 500, 503])('when every call is answered %i with it', async (status) => {
    await using host = await startHost(echo(status));
    await using opened = openClient(`${host.origin}/v1`, { maxRetries: 1, maxRetryAfterMs: 0 });
    for (const call of calls) expectAllClean(opened, await failure(call(opened.client)));
  });

  test.each(['null', '{}', '<html>', '"text"'])('when every call is answered 200 with %s', async (body) => {
    await using host = await startHost((request, response) => {
      request.resume();
      response.writeHead(200, { 'x-request-id': apiKey }).end(body);
    });
    await using opened = openClient(`${host.origin}/v1`);
    for (const call of calls.slice(0, 3)) {
      const error = await failure(call(opened.client));
      expect(error).toMatchObject({ requestId: '[secret]' });
      expectAllClean(opened, error);
    }
  });

  test('when a status is made of it', async () => {
    await using service = await startTinyService({ statuses: [`waiting for ${apiKey}`] });
    await using opened = openClient(service.baseUrl);
    const error = await failure(opened.client.videos.waitUntilReady('vid_1', { waitMs: 0 }));
    expect(error).toMatchObject({ lastStatus: 'waiting for [secret]' });
    expectAllClean(opened, error);
  });

  test('when it is echoed as the status of a video that is waited for', async () => {
    await using host = await startHost((_, response) => {
      response.writeHead(200).end(JSON.stringify({ id: 'v', status: `is ${apiKey}\u001b[31m` }));
    });
    const told: WaitNote[] = [];
    await using opened = openClient(`${host.origin}/v1`, { onWait: (note) => void told.push(note) });
    expectAllClean(opened, await failure(opened.client.videos.waitUntilReady('v', { waitMs: 5000 })));
    expect(told).toMatchObject([{ reason: 'not ready', status: 'is [secret] [31m' }]);
  });

  test('when there is no connection', async () => {
    await using host = await startHost((request) =>
      request.socket.end(`rubbish ${request.headers.authorization}\r\n\r\n`),
    );
    await using opened = openClient(`${host.origin}/v1`);
    for (const call of calls) expectAllClean(opened, await failure(call(opened.client)));
  });
});

describe('nothing that can be printed shows an upload address', () => {
  const tell = (status: number) => echo(status, `${uploadToken} ${uploadPath}`);
  const source = () => ({ name: 'a.mp4', sizeBytes: 3, open: () => Readable.from([Buffer.from('abc')]) });

  test.each([302, 400, 401, 403, 404, 409, 410, 413, 429, 500, 503])('when it answers %i with it', async (status) => {
    await using service = await startTinyService({ puts: [tell(status)], onExpect: tell(status) });
    await using opened = openClient(service.baseUrl, { maxRetries: 1, sendKeyTo: [] });
    expectAllClean(opened, await failure(opened.client.videos.upload(source(), { title: 'T' })));
  });

  test('when the service repeats it as the reason of a failure', async () => {
    const failed = { status: 'failed', error: { message: `bad ${uploadToken} at ${uploadPath} by ${apiKey}` } };
    await using service = await startTinyService({ puts: [losesAnswer], statuses: [failed] });
    await using opened = openClient(service.baseUrl);
    const error = await failure(opened.client.videos.upload(source(), { title: 'T' }));
    expect(error).toMatchObject({ name: 'VideoFailedError', reason: expect.stringContaining('bad [secret] at') });
    expectAllClean(opened, error);
  });

  test('when the service repeats it in a status answer', async () => {
    let isCreated = false;
    await using host = await startHost((request, response, seen) => {
      if (request.method === 'PUT') return losesAnswer(request, response, seen);
      if (isCreated) return tell(404)(request, response, seen);
      isCreated = true;
      request.resume();
      const created = { id: 'vid_1', upload_url: host.origin + uploadPath, status: 'pending' };
      return response.writeHead(201).end(JSON.stringify(created));
    });
    await using opened = openClient(`${host.origin}/v1`);
    const error = await failure(opened.client.videos.upload(source(), { title: 'T' }));
    expect(error).toMatchObject({ name: 'NotFoundError' });
    expectAllClean(opened, error);
  });

  test.each(['ftp://up.example.com', 'http://up.example.com', 'https:// '])('that begins with %s', async (origin) => {
    await using opened = openClient('https://video.example.com/v1');
    const created = { id: 'vid_1', uploadUrl: origin + uploadPath };
    expectAllClean(opened, await failure(opened.client.videos.send(source(), created)));
  });
});
