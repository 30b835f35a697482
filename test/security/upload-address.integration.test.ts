import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { toFailure } from '../../src/host/failure.ts';
import { freshConnections } from '../../packages/client/src/transport/connection.ts';
import { UploadRejectedError } from '../../packages/client/src/errors.ts';
import { putFile } from '../client/upload/put-file.ts';
import type { UploadWorld } from '../../packages/client/src/upload/upload-request.ts';
import { seekableOf } from '../../packages/client/src/upload/upload-source.ts';
import { createUploadTargets, type UploadTargets } from '../../packages/client/src/upload/upload-targets.ts';
import type { Resolve } from '../../packages/client/src/transport/name-lookup.ts';
import { selfSigned } from '../client/certificate.ts';
import { apiKey, openDaemonClient } from '../client/daemon-client.ts';
import { startServer } from '../support/server.ts';
import { startHost, takeAll, type Host, type Seen } from '../client/upload-host.ts';
import { startProxy } from './proxy.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';
import { issueCertificate } from '../../packages/sandbox/src/tls.ts';

/** From the block for documentation (RFC 5737): an address of the internet that nobody has. */
const publicService = 'https://203.0.113.7/v1';

async function startTlsHost(): Promise<Host> {
  const seen: Seen[] = [];
  const take: RequestListener = (request, response) => {
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, bytes: 0, isComplete: true });
    takeAll()(request, response, seen[0] as Seen);
  };
  return { ...(await startServer(take, { tls: selfSigned })), seen };
}

async function refusal(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => new Error('it was sent'),
    (error: Error) => error,
  );
}

describe('an upload address of a service on the internet', () => {
  const thisMachine = [
    ['https://127.0.0.1', 'https://2130706433', 'https://0x7f.1', 'https://017700000001', 'https://127.1'],
    ['https://[::1]', 'https://[::ffff:127.0.0.1]', 'https://[::ffff:7f00:1]', 'https://0', 'https://[::]'],
    ['http://127.0.0.1', 'http://localhost', 'http://[::1]'],
  ].flat();
  test.each(thisMachine)('%s, which is this machine, is refused without a connection', async (origin) => {
    await using host = await startHost(takeAll());
    await using opened = openDaemonClient(publicService);
    await using folder = await scratchDirectory();
    const { port } = new URL(host.origin);
    const error = await refusal(
      opened.send(await folder.write('clip.mp4', 'the film'), `${origin}:${port}/u/tok_5f0c1be2aa77`),
    );
    expect(error).toBeInstanceOf(UploadRejectedError);
    expect(error).toMatchObject({ code: 'unsafe_upload_address' });
    expect(error.message).not.toContain('tok_5f0c1be2aa77');
    expect(host.sockets.size + host.seen.length).toBe(0);
    // It is this file's end, and is not tried again.
    expect(toFailure(error)).toMatchObject({ kind: 'permanent' });
  });

  test.each([
    'https://169.254.169.254/latest',
    'https://[fd00:ec2::254]/',
    'https://[::ffff:169.254.169.254]/',
    'https://100.100.100.200/',
    'https://10.1.2.3/',
    'https://192.168.0.1/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
  ])('%s, the metadata of a cloud or a private network, is refused', async (url) => {
    await using opened = openDaemonClient(publicService);
    await using folder = await scratchDirectory();
    expect(await refusal(opened.send(await folder.write('clip.mp4', 'the film'), url))).toMatchObject({
      code: 'unsafe_upload_address',
    });
  });

  test.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1:70/_x',
    'data:text/plain,x',
    'ftp://example.com/',
    'blob:https://a/b',
    'javascript:alert(1)',
    'unix:/run/docker.sock:/x',
    'https:',
    '//example.com/u',
    'http://example.com/u',
    'https://user:pass@127.0.0.1/',
    'https://user@example.com/',
    'https://exa mple.com/',
    '',
  ])('%j is not an address that a file may be sent to', async (url) => {
    await using opened = openDaemonClient(publicService);
    await using folder = await scratchDirectory();
    const error = await refusal(opened.send(await folder.write('clip.mp4', 'the film'), url));
    expect(error).toMatchObject({ name: 'UploadRejectedError', code: 'unsafe_upload_address' });
    expect(error.message).not.toMatch(/passwd|pass@|alert|docker/);
  });
});

describe('the metadata of a cloud', () => {
  test.each(['http://127.0.0.1:1/v1', 'https://10.0.0.5/v1', publicService])(
    'is no place for uploads of the service at %s either',
    async (service) => {
      await using opened = openDaemonClient(service);
      await using folder = await scratchDirectory();
      const error = await refusal(
        opened.send(await folder.write('clip.mp4', 'the film'), 'https://169.254.169.254/latest/meta-data'),
      );
      expect(error).toMatchObject({ code: 'unsafe_upload_address' });
    },
  );
});

describe('an upload address with a name', () => {
  /** A domain name server that says something else each time. */
  function answering(...turns: readonly (readonly string[])[]): Resolve & { readonly asked: string[] } {
    const asked: string[] = [];
    const resolve: Resolve = async (hostname) => {
      asked.push(hostname);
      const addresses = turns[Math.min(asked.length, turns.length) - 1] ?? [];
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    };
    return Object.assign(resolve, { asked });
  }

  function send(
    folder: ScratchDirectory,
    url: string,
    resolve: Resolve,
    { service = publicService, proxyEnv = {} } = {},
  ) {
    const named = new Set([new URL(service).origin]);
    const agent = freshConnections(proxyEnv, selfSigned.cert);
    return put(folder, url, {
      kept: agent,
      fresh: agent,
      userAgent: 'dropcast',
      targets: createUploadTargets({ baseUrl: service, named, resolve }),
      refusesExpect: new Set<string>(),
      keyFor: () => null,
    });
  }

  const targetsOf = (resolve: Resolve, baseUrl = publicService) =>
    createUploadTargets({ baseUrl, named: new Set(), resolve });

  function worldOf(targets: UploadTargets): UploadWorld {
    const agent = freshConnections({}, selfSigned.cert);
    return {
      kept: agent,
      fresh: agent,
      userAgent: 'dropcast',
      targets,
      refusesExpect: new Set<string>(),
      keyFor: () => null,
    };
  }

  async function put(folder: ScratchDirectory, url: string, world: UploadWorld, signal = new AbortController().signal) {
    const { sizeBytes, openReader } = await seekableOf(await folder.write('clip.mp4', 'the film'));
    await using reader = await openReader();
    const options = { url, headers: {}, signal, stallTimeoutMs: 5_000, beforeLastPart: async () => {} };
    return await putFile({ reader, sizeBytes }, options, world);
  }

  test.each([
    [['127.0.0.1']],
    [['203.0.113.9', '127.0.0.1']],
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
  ])('that resolves to %j is refused, and nothing is connected to', async (addresses) => {
    await using host = await startTlsHost();
    await using folder = await scratchDirectory();
    const { port } = new URL(host.origin);
    const error = await refusal(send(folder, `https://rebind.example:${port}/u`, answering(addresses)));
    expect(error).toMatchObject({ name: 'UploadRejectedError', code: 'unsafe_upload_address' });
    expect(error.message).toContain(`https://rebind.example:${port} leads to `);
    expect(host.sockets.size + host.seen.length).toBe(0);
  });

  test.each(['https://203.0.113.50', 'https://here.example', 'https://[2001:db8::5]'])(
    'or without, that leads to a public address of this machine is refused: %s',
    async (origin) => {
      await using folder = await scratchDirectory();
      const targets = createUploadTargets({
        baseUrl: publicService,
        named: new Set(),
        resolve: answering(['203.0.113.50']),
        ownAddresses: () => ['127.0.0.1', '203.0.113.50', '2001:db8::5'],
      });
      const error = await refusal(put(folder, `${origin}/u`, worldOf(targets)));
      expect(error).toMatchObject({ code: 'unsafe_upload_address' });
      expect(error.message).toContain('leads to this machine');
    },
  );

  test('of more than 8 KiB is refused', async () => {
    await using folder = await scratchDirectory();
    const error = await refusal(send(folder, `https://h.example/${'x'.repeat(8192)}`, answering(['203.0.113.9'])));
    expect(error).toMatchObject({ code: 'unsafe_upload_address', message: expect.stringContaining('8192 characters') });
    expect(error.message.length).toBeLessThan(200);
  });

  test('is resolved once: the address that was checked is the one that is connected to', async () => {
    await using host = await startTlsHost();
    await using folder = await scratchDirectory();
    const { port } = new URL(host.origin);
    const resolve = answering(['203.0.113.9'], ['127.0.0.1']);
    const stop = AbortSignal.timeout(300);
    await refusal(put(folder, `https://rebind.example:${port}/u`, worldOf(targetsOf(resolve)), stop));
    expect(resolve.asked).toEqual(['rebind.example']);
    expect(host.sockets.size + host.seen.length).toBe(0);
  });

  test.each([
    ['where the service itself is', ['127.0.0.1'], true],
    ['nowhere nearer than the farthest place of the service', ['127.0.0.1', '203.0.113.10'], false],
    ['nowhere near while a proxy hides where the service is', [null], false],
    ['nowhere near if the service is where nothing may be sent', ['169.254.169.254'], false],
  ])('may lead %s, as TLS proved it', async (_, proved, isAllowed) => {
    await using host = await startTlsHost();
    await using folder = await scratchDirectory();
    const { port } = new URL(host.origin);
    const targets = targetsOf(answering(['127.0.0.1']), 'https://service.example/v1');
    for (const address of proved) targets.provedAt(address);
    // The certificate is for 127.0.0.1 alone: that it is asked for shows that the connection was made.
    const code = isAllowed ? 'ERR_TLS_CERT_ALTNAME_INVALID' : 'unsafe_upload_address';
    const error = await refusal(put(folder, `https://upload.example:${port}/u`, worldOf(targets)));
    expect(error).toMatchObject({ code });
    if (!isAllowed) expect(host.sockets.size + host.seen.length).toBe(0);
  });

  test.each(['http://127.0.0.1', 'http://localhost', 'http://[::1]', 'https://127.0.0.1', 'https://service.example'])(
    'at %s gets nothing when the name of the service leads to this machine after it was proved elsewhere',
    async (origin) => {
      await using host = await startHost(takeAll());
      await using folder = await scratchDirectory();
      const { port } = new URL(host.origin);
      // Its own name server answers for its name: with the address of this machine, as soon as it has named one for the upload.
      const resolve = answering(['127.0.0.1']);
      const targets = targetsOf(resolve, 'https://service.example/v1');
      targets.provedAt('203.0.113.10');
      const error = await refusal(put(folder, `${origin}:${port}/v1/agent/service/register`, worldOf(targets)));
      expect(error).toMatchObject({ name: 'UploadRejectedError', code: 'unsafe_upload_address' });
      expect(host.sockets.size + host.seen.length).toBe(0);
    },
  );

  test('gets plain http only from a service whose own address in the configuration is this machine', async () => {
    await using host = await startHost(takeAll());
    await using folder = await scratchDirectory();
    const targets = targetsOf(answering(['127.0.0.1']), 'https://service.example/v1');
    // Even proved to be here: it has a name that may lead elsewhere tomorrow.
    targets.provedAt('127.0.0.1');
    const error = await refusal(put(folder, `${host.origin}/u`, worldOf(targets)));
    expect(error).toMatchObject({ code: 'unsafe_upload_address', message: expect.stringContaining('must be https;') });
    const here = targetsOf(answering(['127.0.0.1']), 'https://localhost/v1');
    await expect(put(folder, `${host.origin}/u`, worldOf(here))).resolves.toMatchObject({ bytes: 8 });
    expect(host.seen).toHaveLength(1);
  });

  test('waits, without a look-up of the service, until an answer proved where that is', async () => {
    await using folder = await scratchDirectory();
    const resolve = answering(['10.0.0.1']);
    const targets = targetsOf(resolve, 'https://service.example/v1');
    for (const url of ['https://upload.example/u', 'https://10.0.0.1/u']) {
      const error = await refusal(put(folder, url, worldOf(targets)));
      expect(toFailure(error)).toMatchObject({ kind: 'offline', code: 'service_not_located' });
    }
    expect(resolve.asked).toEqual(['upload.example']);
    // A public address needs no proof, and a metadata service never gets anything.
    expect((await targets.admit('https://203.0.113.9/u')).refusal()).toBeNull();
    await expect(targets.admit('https://169.254.169.254/u')).rejects.toMatchObject({ code: 'unsafe_upload_address' });
  });

  test('of this machine is refused as soon as the service has answered through a proxy, which hides where it is', async () => {
    const { ca, cert, key } = await issueCertificate(['service.example'], Date.now());
    const list: RequestListener = (_, response) => response.end('{"data":[]}');
    await using service = await startServer(list, { tls: { cert, key } });
    await using proxy = await startProxy(service.port);
    await using folder = await scratchDirectory();
    const proxyEnv = { HTTPS_PROXY: proxy.origin };
    await using opened = openDaemonClient('https://service.example/v1', { proxyEnv, ca });
    const path = await folder.write('clip.mp4', 'the film');
    const send = () => refusal(opened.send(path, 'https://127.0.0.1/u'));
    expect(await send()).toMatchObject({ code: 'service_not_located' });
    expect(await opened.client.feeds.list()).toEqual([]);
    expect(await send()).toMatchObject({ code: 'unsafe_upload_address' });
    expect(proxy.asked).toEqual(['CONNECT service.example:443']);
  });

  test('is left to the proxy that the operator chose, wherever that is', async () => {
    await using host = await startTlsHost();
    await using folder = await scratchDirectory();
    await using proxy = await startProxy(Number(new URL(host.origin).port));
    const resolve = answering(['127.0.0.1']);
    const proxyEnv = { HTTPS_PROXY: proxy.origin };
    const error = await refusal(send(folder, 'https://upload.example/u', resolve, { proxyEnv }));
    expect(error).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(proxy.asked).toEqual(['CONNECT upload.example:443']);
    expect(resolve.asked).toEqual([]);
  });
});

describe('a service that is near', () => {
  test('on this machine: its uploads may be there too', async () => {
    await using host = await startHost(takeAll());
    await using opened = openDaemonClient('http://127.0.0.1:1/v1');
    await using folder = await scratchDirectory();
    await expect(opened.send(await folder.write('clip.mp4', 'the film'), `${host.origin}/u`)).resolves.toMatchObject({
      sizeBytes: 8,
    });
  });

  test('on a private network: its uploads may not be on this machine', async () => {
    await using host = await startHost(takeAll());
    await using opened = openDaemonClient('https://10.0.0.5/v1');
    await using folder = await scratchDirectory();
    expect(await refusal(opened.send(await folder.write('clip.mp4', 'the film'), `${host.origin}/u`))).toMatchObject({
      code: 'unsafe_upload_address',
    });
    expect(host.seen).toEqual([]);
  });
});

test('an origin that a person has named to see the key may be anywhere', async () => {
  await using host = await startHost(takeAll());
  await using opened = openDaemonClient(publicService, { sendKeyTo: [host.origin] });
  await using folder = await scratchDirectory();
  await opened.send(await folder.write('clip.mp4', 'the film'), `${host.origin}/u`);
  expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${apiKey}`]);
});

test.each([301, 302, 303, 307, 308])('a redirect by %i is never followed, by no upload', async (status) => {
  await using other = await startHost(takeAll());
  await using host = await startHost((request, response) => {
    request.resume();
    response.writeHead(status, { location: `${other.origin}/steal` }).end();
  });
  await using opened = openDaemonClient('http://127.0.0.1:1/v1', { sendKeyTo: [host.origin, other.origin] });
  await using folder = await scratchDirectory();
  const error = await refusal(opened.send(await folder.write('clip.mp4', 'the film'), `${host.origin}/u`));
  expect(error).toMatchObject({ name: 'RedirectError', status });
  expect(other.sockets.size + other.seen.length).toBe(0);
});
