import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { ConnectionError, RequestTimeoutError, UnreadableAnswerError } from '../../packages/client/src/errors.ts';
import { selfSigned } from './certificate.ts';
import { startProxy } from '../security/proxy.ts';
import { startServer } from '../support/server.ts';
import { startHost, type Handler } from './upload-host.ts';
import { failure, openClient } from './open-client.ts';
import { answer } from '../e2e/answers.ts';
import { issueCertificate } from '../../packages/sandbox/src/tls.ts';

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
    await using opened = openClient(`${host.origin}/v1`, { timeoutMs: 500, maxRetries: 1 });
    expect(await failure(opened.client.feeds.list())).toBeInstanceOf(RequestTimeoutError);
    expect(host.seen).toHaveLength(2);
    await using patient = openClient(`${host.origin}/v1`, { maxRetries: 0 });
    expect(await failure(patient.client.feeds.list({ timeoutMs: 500 }))).toMatchObject({ sent: true, code: 'timeout' });
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

  test('trusting one more does not mean to distrust the others', async () => {
    const [known, own] = await Promise.all([startTlsHost('127.0.0.1'), startTlsHost('127.0.0.1')]);
    await using hosts = { known, own, [Symbol.asyncDispose]: () => stopAll(known, own) };
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, hosts.known.ca]);
    try {
      for (const { origin } of [known, own]) {
        await using opened = openClient(`${origin}/v1`, { ca: own.ca });
        expect(await opened.client.feeds.list()).toEqual([]);
      }
    } finally {
      setDefaultCACertificates(usual);
    }
  });

  test.each([
    ['its own authority', { '127.0.0.1': 'own' }, true],
    ['those of two keys', { '*': 'other', '127.0.0.1': 'own' }, true],
    ['that of every host', { '*': 'own' }, true],
    ['that of all names below a name', { '*.0.1': 'own' }, true],
    ['none of another host', { 'video.example.com': 'own', '*.example.com': 'own', '27.0.0.1': 'own' }, false],
    ['another authority', { '127.0.0.1': 'other' }, false],
  ] as const)('a host is trusted with %s', async (_, named, isTrusted) => {
    const [own, other] = await Promise.all([startTlsHost('127.0.0.1'), startTlsHost('127.0.0.1')]);
    await using hosts = { own, other, [Symbol.asyncDispose]: () => stopAll(own, other) };
    const ca = Object.fromEntries(Object.entries(named).map(([pattern, whose]) => [pattern, hosts[whose].ca]));
    await using opened = openClient(`${own.origin}/v1`, { ca, maxRetries: 0 });
    const ended = await opened.client.feeds.list().catch((error: unknown) => error);
    if (isTrusted) expect(ended).toEqual([]);
    else expect(ended).toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', sent: false });
  });

  test('a proxy tunnels to a host with an authority of its own', async () => {
    await using host = await startTlsHost('video.example.com');
    await using proxy = await startProxy(host.port);
    const proxyEnv = { HTTPS_PROXY: proxy.origin };
    await using opened = openClient('https://video.example.com/v1', { proxyEnv, ca: { 'Video.example.com': host.ca } });
    expect(await opened.client.feeds.list()).toEqual([]);
    expect(proxy.asked).toEqual(['CONNECT video.example.com:443']);
  });
});

async function startTlsHost(name: string) {
  const { ca, cert, key } = await issueCertificate([name], Date.now());
  return { ca, ...(await startServer((_, response) => answer(response, 200, { data: [] }), { tls: { cert, key } })) };
}

async function stopAll(...hosts: readonly AsyncDisposable[]): Promise<void> {
  await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
}
