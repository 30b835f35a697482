import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createSecureServer as createHttp2Server } from 'node:http2';
import { createServer as createSocketServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { whyNoAnswer } from '../../../packages/client/src/transport/connection-words.ts';
import { selfSigned } from '../certificate.ts';
import { openDaemonClient } from '../daemon-client.ts';
import { startProxy } from '../../security/proxy.ts';
import { listen, startServer } from '../../support/server.ts';
import { issueCertificate } from '../../../packages/sandbox/src/tls.ts';

const day = 86_400_000;
const answering: RequestListener = (_, response) => response.end('{"data":[]}');

async function whyOf(baseUrl: string, options: Parameters<typeof openDaemonClient>[1] = {}): Promise<string> {
  await using opened = openDaemonClient(baseUrl, options);
  return await opened.client.feeds.list().then(
    () => 'it was answered',
    (error: Error) => error.message,
  );
}

/** A proxy that refuses every connection. */
function startRefusingProxy(answer: string) {
  const server = createHttpServer();
  server.on('connect', (_, socket: Socket) => socket.end(answer));
  return listen(server);
}

describe('a certificate', () => {
  test.each<[string, { isKnown?: boolean; age?: number; name?: string }, RegExp]>([
    ['from an unknown authority', { isKnown: false }, /trust; .* name its file in NODE_EXTRA_CA_CERTS \(\w+\)$/],
    ['that has expired', { age: 800 }, /has expired; check the clock .* renewed \(CERT_HAS_EXPIRED\)$/],
    ['that is not valid yet', { age: -30 }, /not valid yet; check the clock .* \(CERT_NOT_YET_VALID\)$/],
    ['for another name', { name: 'other.example' }, /for another host name; check the address \(ERR_TLS\w+\)$/],
  ])('%s is refused with what to do', async (_, { isKnown = true, age = 0, name = '127.0.0.1' }, why) => {
    const { ca, cert, key } = await issueCertificate([name], Date.now() - age * day);
    await using host = await startServer(answering, { tls: { cert, key } });
    const said = await whyOf(`${host.origin}/v1`, isKnown ? { ca } : {});
    expect(said).toMatch(why);
    expect(said).toContain(`${host.origin} cannot be reached: its certificate `);
  });
});

describe('a proxy', () => {
  const refusal = (status: string) => `HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`;

  test.each([
    [
      'wants a log-in',
      '',
      refusal('407 X'),
      /^the proxy \S+ of HTTPS_PROXY wants .* \(407\); put them before its host/,
    ],
    [
      'refuses the log-in',
      'ann:geheim@',
      refusal('407 X'),
      /refuses the user name and password .*\(407\); correct them, with @ written as %40/,
    ],
    [
      'forbids the host',
      '',
      refusal('403 X'),
      /does not connect to video\.example\.com: it answered 403; .* NO_PROXY$/,
    ],
    ['hangs up', '', '', /^the proxy \S+ of HTTPS_PROXY closed the connection without an answer$/],
    ['answers with a page of words', '', refusal(`502 ${'x'.repeat(9000)}`), /answered 502/],
  ])('that %s is named, with what to do', async (_, login, answer, why) => {
    await using proxy = await startRefusingProxy(answer);
    const said = await whyOf('https://video.example.com/v1', {
      proxyEnv: { HTTPS_PROXY: proxy.origin.replace('//', `//${login}`) },
    });
    expect(said).toMatch(why);
    expect(said).toContain(proxy.origin);
    expect(said).not.toContain('geheim');
    expect(said.length).toBeLessThan(300);
  });

  test('with credentials opens the tunnel for those alone, however they are written', async () => {
    const { ca, cert, key } = await issueCertificate(['video.example.com'], Date.now());
    await using host = await startServer(answering, { tls: { cert, key } });
    await using proxy = await startProxy(host.port, { login: 'ann:p@ss/w:rd%' });
    const through = (login: string) => ({ HTTPS_PROXY: proxy.origin.replace('//', `//${login}@`) });
    const ask = (login: string) => whyOf('https://video.example.com/v1', { ca, proxyEnv: through(login) });
    expect(await ask('ann:p%40ss%2Fw%3Ard%25')).toBe('it was answered');
    expect(await ask('ann:p@ss%2Fw:rd%25')).toBe('it was answered');
    const said = await ask('ann:geheim');
    expect(said).toBe(
      `the proxy ${proxy.origin} of HTTPS_PROXY refuses the user name and password in that variable (407); correct them, with @ written as %40 and : as %3A`,
    );
  });

  test.each([
    ['socks5://proxy.example.com:1080', /^HTTPS_PROXY names a proxy that speaks socks5; only http and https/],
    ['http://', /^HTTPS_PROXY is not an address such as http:\/\/proxy\.example\.com:3128; in NAME:PASSWORD@ before/],
    ['http://ann:geh/eim@proxy:3128', /^HTTPS_PROXY is not an address .* write % as %25, \/ as %2F/],
    ['http://ann:geheim%@proxy:3128', /^HTTPS_PROXY is not an address .* write % as %25/],
    ['http://ann:geh#eim@proxy:3128', /^HTTPS_PROXY is not an address .* # as %23/],
  ])('that is written as %j is refused without its password, and nothing is connected to', async (written, why) => {
    await using host = await startServer(answering, { tls: selfSigned });
    const ask = (proxyEnv: Readonly<Record<string, string>>) => whyOf(`${host.origin}/v1`, { proxyEnv });
    const said = await ask({ HTTPS_PROXY: written });
    expect(said).toMatch(why);
    expect(said).not.toContain('geh');
    expect(await ask({ https_proxy: written })).toMatch(/^https_proxy /);
    expect(host.sockets.size).toBe(0);
  });

  test('that is written without http:// is used', async () => {
    const { ca, cert, key } = await issueCertificate(['video.example.com'], Date.now());
    await using host = await startServer(answering, { tls: { cert, key } });
    await using proxy = await startProxy(host.port, { login: 'ann:geheim' });
    for (const HTTPS_PROXY of [`ann:geheim@127.0.0.1:${proxy.port}`, ` http://ann:geheim@127.0.0.1:${proxy.port}/ `])
      expect(await whyOf('https://video.example.com/v1', { ca, proxyEnv: { HTTPS_PROXY } })).toBe('it was answered');
  });

  test('that is away is named instead of the service', async () => {
    const proxy = await startRefusingProxy('');
    await proxy[Symbol.asyncDispose]();
    expect(await whyOf('https://video.example.com/v1', { proxyEnv: { https_proxy: proxy.origin } })).toBe(
      `the proxy ${proxy.origin} of HTTPS_PROXY cannot be reached: nothing listens there (ECONNREFUSED)`,
    );
    const nowhere = 'http://proxy.invalid:3128';
    expect(await whyOf('https://video.example.com/v1', { proxyEnv: { https_proxy: nowhere } })).toMatch(
      /^the proxy http:\/\/proxy\.invalid:3128 of HTTPS_PROXY cannot be reached: .*name/,
    );
  });

  test('that passes the connection on is mentioned when that fails behind it', async () => {
    const { cert, key } = await issueCertificate(['video.example.com'], Date.now());
    await using host = await startServer(answering, { tls: { cert, key } });
    await using proxy = await startProxy(host.port);
    const said = await whyOf('https://video.example.com/v1', { proxyEnv: { HTTPS_PROXY: proxy.origin } });
    expect(said).toMatch(/^https:\/\/video\.example\.com cannot be reached: its certificate/);
    expect(said).toContain(`; HTTPS_PROXY is ${proxy.origin}`);
  });

  test('that NO_PROXY exempts the service from is not blamed', async () => {
    const gone = await startServer(answering);
    await gone[Symbol.asyncDispose]();
    const proxyEnv = { HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: '127.0.0.1' };
    expect(await whyOf(`https://127.0.0.1:${gone.port}/v1`, { proxyEnv })).toMatch(
      /^https:\/\/127\.0\.0\.1:\d+ cannot be reached: nothing listens there/,
    );
  });
});

describe('a server that speaks only HTTP/2', () => {
  const only = 'speaks only HTTP/2; allow HTTP/1.1 there, or put a reverse proxy';

  test('is named before a request leaves', async () => {
    const { ca, cert, key } = await issueCertificate(['127.0.0.1'], Date.now());
    const asked: string[] = [];
    await using host = await listen(
      createHttp2Server({ cert, key, allowHTTP1: false }, ({ httpVersion }) => void asked.push(httpVersion)),
      'https',
    );
    await using opened = openDaemonClient(`${host.origin}/v1`, { ca });
    const error = await opened.client.videos.create({ title: 'T', channelId: 'ch_1', tags: [] }).catch(String);
    expect(error).toContain(`${host.origin} cannot be reached: it ${only}`);
    expect(await opened.client.feeds.list().catch((reason: unknown) => reason)).toMatchObject({
      code: 'http2_only',
      sent: false,
    });
    expect(asked).toEqual([]);
  });

  test('is named when it ignores the handshake and answers in frames', async () => {
    const settings = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);
    await using host = await listen(createSocketServer((socket) => socket.end(settings)));
    expect(await whyOf(`${host.origin}/v1`)).toContain(`${host.origin} cannot be reached: it ${only}`);
  });
});

test.each([
  ['ENOTFOUND', /no host has this name; check/],
  ['EAI_AGAIN', /cannot be resolved at the moment; check/],
  ['ECONNREFUSED', /nothing listens there/],
  ['ETIMEDOUT', /does not answer; a firewall/],
  ['timeout', /does not answer; a firewall/],
  ['lookup_timeout', /the name server of this machine does not answer; check it with `getent hosts NAME`/],
  ['EHOSTUNREACH', /no route to it; check the network/],
  ['ENETUNREACH', /no route to it; check the network/],
  ['ECONNRESET', /closed while it was set up; a firewall/],
  ['EPERM', /forbids the connection; check its firewall/],
  ['EPROTO', /does not speak https/],
  ['ENEW', /the connection failed/],
  ['toString', /the connection failed/],
])('%s is said in words', (code, why) => {
  const url = new URL('https://video.example.com/v1/secret');
  const said = whyNoAnswer({ cause: null, code, url, proxy: null, isUp: false });
  expect(said).toMatch(why);
  expect(said.startsWith('https://video.example.com cannot be reached: ')).toBe(true);
  expect(said.endsWith(`(${code})`)).toBe(true);
});
