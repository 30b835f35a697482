import { getCACertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';

import { freshConnections } from '../../packages/client/src/transport/connection.ts';
import { ConnectionError, RequestTimeoutError, UnreadableAnswerError } from '../../packages/client/src/errors.ts';
import { selfSigned } from './certificate.ts';
import { startServer } from '../support/server.ts';
import { startHost } from './upload-host.ts';
import type { Handler } from './upload-host.ts';
import { failure, openClient } from './open-client.ts';
import { answer } from '../e2e/answers.ts';

/** Takes the request and breaks the connection, so many times; then answers. */
function breaking(times: number, answer: Handler): Handler {
  let left = times;
  return (request, response, seen) => {
    request.resume();
    if (left === 0) return answer(request, response, seen);
    left -= 1;
    return request.on('end', () => request.socket.resetAndDestroy());
  };
}

const notFound: Handler = (_, response) => response.writeHead(404).end();

describe('on a real connection', () => {
  test('a read is repeated after a reset', async () => {
    await using host = await startHost(
      breaking(2, (_, response) => answer(response, 200, { id: 'v', status: 'ready' })),
    );
    await using opened = openClient(`${host.origin}/v1`);
    expect(await opened.client.videos.get('v')).toEqual({ id: 'v', status: 'ready' });
    expect(host.seen).toHaveLength(3);
  });

  test('a deletion that is not found after a reset is done', async () => {
    await using host = await startHost(breaking(1, notFound));
    await using opened = openClient(`${host.origin}/v1`);
    expect(await opened.client.videos.delete('v')).toBeUndefined();
    expect(host.seen.map(({ method }) => method)).toEqual(['DELETE', 'DELETE']);
  });

  test('creating is not repeated after a reset: the record may exist', async () => {
    await using host = await startHost(breaking(1, notFound));
    await using opened = openClient(`${host.origin}/v1`);
    const error = await failure(opened.client.videos.create({ title: 'T' }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: true, code: 'ECONNRESET' });
    expect(host.seen).toHaveLength(1);
  });

  test('creating is repeated when nothing listens, because nothing was sent', async () => {
    const closed = await startHost(notFound);
    await closed[Symbol.asyncDispose]();
    await using opened = openClient(`${closed.origin}/v1`);
    const error = await failure(opened.client.videos.create({ title: 'T' }));
    expect(error).toMatchObject({ name: 'ConnectionError', sent: false, code: 'ECONNREFUSED' });
    expect(opened.sleeps).toEqual([500, 1000]);
  });

  test('a request whose answer does not arrive in time is repeated, by the timeout of the call or of the client', async () => {
    await using host = await startHost((request) => request.resume());
    await using opened = openClient(`${host.origin}/v1`, { timeoutMs: 50, maxRetries: 1 });
    expect(await failure(opened.client.feeds.list())).toBeInstanceOf(RequestTimeoutError);
    expect(host.seen).toHaveLength(2);
    await using patient = openClient(`${host.origin}/v1`, { maxRetries: 0 });
    expect(await failure(patient.client.feeds.list({ timeoutMs: 50 }))).toMatchObject({ sent: true, code: 'timeout' });
  });

  test('a signal ends an exchange that is under way', async () => {
    const stop = new AbortController();
    await using host = await startHost((request) => {
      request.resume();
      stop.abort();
    });
    await using opened = openClient(`${host.origin}/v1`);
    expect(await failure(opened.client.feeds.list({ signal: stop.signal }))).toMatchObject({ name: 'AbortedError' });
    expect(host.seen).toHaveLength(1);
  });

  test('an answer without end is cut', async () => {
    await using host = await startHost((_, response) => {
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024)));
      };
      response.on('drain', pour).writeHead(200);
      pour();
    });
    await using opened = openClient(`${host.origin}/v1`);
    expect(await failure(opened.client.feeds.list())).toBeInstanceOf(UnreadableAnswerError);
  });
});

describe('over TLS', () => {
  test('a certificate is trusted only if the client was given it', async () => {
    await using host = await startServer((_, response) => answer(response, 200, { data: [] }), { tls: selfSigned });
    await using trusting = openClient(`${host.origin}/v1`, { ca: selfSigned.cert });
    expect(await trusting.client.feeds.list()).toEqual([]);
    await using wary = openClient(`${host.origin}/v1`, { maxRetries: 0 });
    expect(await failure(wary.client.feeds.list())).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', sent: false });
  });

  test('trusting one more does not mean to distrust the others', () => {
    const { https } = freshConnections({}, selfSigned.cert);
    expect(https.options.ca).toEqual([...getCACertificates('default'), selfSigned.cert]);
    expect(getCACertificates('default').length).toBeGreaterThan(10);
  });
});
