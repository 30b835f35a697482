import { execFile } from 'node:child_process';
import type { RequestListener } from 'node:http';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

import { createVideoClient } from '../../packages/client/src/create-video-client.ts';
import { selfSigned } from '../client/certificate.ts';
import { apiKey, openDaemonClient } from '../client/daemon-client.ts';
import { startServer } from '../support/server.ts';
import { startHost, takeAll } from '../client/upload-host.ts';
import type { Host, Seen } from '../client/upload-host.ts';
import { startProxy } from './proxy.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const run = promisify(execFile);

/** The service over TLS, which notes what it was asked with. */
async function startTlsService(): Promise<Host> {
  const seen: Seen[] = [];
  const list: RequestListener = ({ method = '', url = '', headers }, response) => {
    seen.push({ method, url, headers, bytes: 0, isComplete: true });
    response.setHeader('content-type', 'application/json').end('{"data":[]}');
  };
  return { ...(await startServer(list, { tls: selfSigned })), seen };
}

describe('a proxy of the environment', () => {
  test('carries the requests to the service, and sees nothing of the key', async () => {
    await using host = await startTlsService();
    const { port } = new URL(host.origin);
    await using proxy = await startProxy(Number(port));
    const proxyEnv = { HTTPS_PROXY: proxy.origin, HTTP_PROXY: proxy.origin };
    await using client = createVideoClient({ baseUrl: `${host.origin}/v1`, apiKey, ca: selfSigned.cert, proxyEnv });
    expect(await client.feeds.list()).toEqual([]);
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${apiKey}`]);
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${port}`]);
    expect(Buffer.concat(proxy.passed).length).toBeGreaterThan(500);
    expect(Buffer.concat(proxy.passed).toString('latin1')).not.toContain(apiKey);
  });

  test('is not asked for a service or an upload on this machine, which it would see in the clear', async () => {
    await using host = await startHost((request, response) => {
      if (request.method === 'PUT') takeAll()(request, response, host.seen[0] as Seen);
      else response.setHeader('content-type', 'application/json').end('{"data":[]}');
    });
    await using proxy = await startProxy(1);
    const proxyEnv = { HTTP_PROXY: proxy.origin, http_proxy: proxy.origin, HTTPS_PROXY: proxy.origin };
    await using opened = openDaemonClient(host.origin, { proxyEnv });
    await using folder = await scratchDirectory();
    expect(await opened.client.feeds.list()).toEqual([]);
    await opened.send(await folder.write('clip.mp4', 'x'), `${host.origin}/u`);
    expect(host.seen.map(({ method }) => method)).toEqual(['GET', 'PUT']);
    expect(proxy.asked).toEqual([]);
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment', () => {
  const client = `
    const [, baseUrl, path] = process.argv;
    const { createVideoClient } = await import(path);
    await using client = createVideoClient({ baseUrl, apiKey: 'sk_of_the_test', maxRetries: 0, proxyEnv: {} });
    console.log(await client.feeds.list().then(() => 'the key was sent', ({ code }) => code));
  `;

  test('does not let a server without a valid certificate have the key', async () => {
    await using host = await startTlsService();
    const path = new URL('../../packages/client/src/create-video-client.ts', import.meta.url).href;
    const args = ['--no-warnings', '--input-type=module', '--eval', client, `${host.origin}/v1`, path];
    const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { stdout } = await run(process.execPath, args, { env });
    expect(stdout).toBe('DEPTH_ZERO_SELF_SIGNED_CERT\n');
    expect(host.seen).toEqual([]);
  });
});

test('an upload host that is the same but for the port does not see the key', async () => {
  await using service = await startHost(takeAll());
  await using upload = await startHost(takeAll());
  await using opened = openDaemonClient(`${service.origin}/v1`, { sendKeyTo: ['https://127.0.0.1'] });
  await using folder = await scratchDirectory();
  // The path says what it likes: the origin counts.
  const url = `${upload.origin}/${service.origin}/v1?to=${service.origin}`;
  await opened.send(await folder.write('clip.mp4', 'x'), url);
  expect(upload.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  expect(JSON.stringify(upload.seen)).not.toContain(apiKey);
});
