import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, until, type RunningSandbox } from '../running-sandbox.ts';
import { startReceiver } from '../webhooks/receiver.ts';

interface Asked {
  readonly method?: string;
  readonly body?: string;
  /** Default: that of the API. */
  readonly key?: string;
}

/** Asks the sandbox by another name than its address. */
async function askBy(host: string, { sandbox }: RunningSandbox, path: string, asked: Asked = {}) {
  const { method = 'GET', body, key = sandbox.apiKey } = asked;
  const headers = {
    host,
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = request({ host: '127.0.0.1', port: sandbox.port, path, method, headers });
  sent.end(body);
  const [answer] = await once(sent, 'response');
  const text = (await Array.fromAsync(answer as AsyncIterable<Buffer>)).join('');
  return { status: answer.statusCode as number, headers: answer.headers as IncomingHttpHeaders, text };
}

const linkTo = async (host: string, service: RunningSandbox): Promise<string> => {
  const { text } = await askBy(host, service, '/v1/videos', { method: 'POST', body: '{"title":"T"}' });
  const { upload_url: url } = JSON.parse(text);
  return new URL(url).origin;
};

test('a sandbox for this machine alone answers to no other name, and its links do not change', async () => {
  await using service = await runSandbox();
  const { port } = service.sandbox;
  for (const host of ['sandbox', `192.0.2.7:${port}`, 'evil.example']) {
    const { status, text } = await askBy(host, service, '/v1/channels');
    expect([host, status, text]).toEqual([host, 421, expect.stringContaining('--external-url')]);
  }
  expect(await linkTo(`localhost:${port}`, service)).toBe(`http://127.0.0.1:${port}`);
});

describe('an exposed sandbox', () => {
  let service: RunningSandbox;
  beforeAll(async () => {
    service = await runSandbox({ host: '0.0.0.0', exposed: true });
  });
  afterAll(() => service.sandbox.close());

  test('is known to its own machine by an address that leads there', () => {
    expect(service.sandbox.baseUrl).toBe(`http://127.0.0.1:${service.sandbox.port}/v1`);
  });

  test.each(['192.0.2.7:8787', '[2001:db8::7]:9000', 'localhost:9000'])(
    'gives a client that knows it as %s links that lead there',
    async (host) => {
      expect(await linkTo(host, service)).toBe(`http://${host}`);
      const { text } = await askBy(host, service, '/v1/feeds');
      const { data } = JSON.parse(text);
      expect(data[0].url).toBe(`http://${host}/feeds/feed_news.xml`);
      expect((await askBy(host, service, '/feeds/feed_news.xml')).text).toContain(`http://${host}/feeds/feed_news.xml`);
    },
  );

  test('gives each of several clients at once its own links', async () => {
    const hosts = Array.from({ length: 20 }, (_, index) => `192.0.2.${index + 1}:8787`);
    expect(await Promise.all(hosts.map((host) => linkTo(host, service)))).toEqual(
      hosts.map((host) => `http://${host}`),
    );
  });

  test.each(['evil.example', 'sandbox:8787', '192.0.2.7.evil.example', '127.0.0.1@evil.example'])(
    'does not answer to %j: a web page whose name leads to this machine sends its own name',
    async (host) => {
      expect((await askBy(host, service, '/v1/channels')).status).toBe(421);
    },
  );
});

describe('an exposed sandbox with an external URL', () => {
  let service: RunningSandbox;
  beforeAll(async () => {
    const [externalUrl, uploadOrigin] = ['https://Sandbox.example', 'separate'] as const;
    service = await runSandbox({ host: '0.0.0.0', exposed: true, externalUrl, uploadOrigin });
  });
  afterAll(() => service.sandbox.close());

  test('is known by it', () => {
    expect(service.sandbox).toMatchObject({
      baseUrl: 'https://sandbox.example/v1',
      adminUrl: 'https://sandbox.example/_sandbox',
    });
  });

  test.each(['sandbox.example', 'SANDBOX.example:443'])(
    'gives a client that asks %s its scheme and port',
    async (host) => {
      const { text } = await askBy(host, service, '/v1/feeds');
      expect(JSON.parse(text).data[0].url).toBe('https://sandbox.example/feeds/feed_news.xml');
      expect(await linkTo(host, service)).toBe(service.sandbox.uploadOrigin.replace(/.*:/, 'https://sandbox.example:'));
    },
  );

  test('signs a browser in that comes through a proxy with https, and leaves it there', async () => {
    const { pageUrl } = service.sandbox;
    const { status, headers } = await askBy('sandbox.example', service, `/${new URL(pageUrl).search}`);
    expect([status, new URL(headers.location ?? '', pageUrl).href]).toEqual([303, 'https://sandbox.example/']);
    expect(headers['set-cookie']).toEqual([expect.stringMatching(/; Secure(;|$)/)]);
  });

  test('gives others the scheme of the port itself', async () => {
    const { text } = await askBy('localhost:9000', service, '/v1/feeds');
    expect(JSON.parse(text).data[0].url).toBe('http://localhost:9000/feeds/feed_news.xml');
  });

  test('has it in the links of webhooks, whichever client sent the video', async () => {
    await using receiver = await startReceiver();
    const ask = async (path: string, json: unknown, key?: string) => {
      const asked = { method: 'POST', body: JSON.stringify(json), ...(key !== undefined && { key }) };
      return JSON.parse((await askBy('localhost:9000', service, path, asked)).text);
    };
    const { adminToken } = service.sandbox;
    await ask('/_sandbox/webhooks', { url: receiver.url, events: ['video.failed'] }, adminToken);
    const { id } = await ask('/v1/videos', { title: 'T' });
    await ask(`/_sandbox/videos/${id}/fail`, { code: 'bad', message: 'Bad.' }, adminToken);
    const { json } = await until(() => receiver.received[0]);
    expect(json.data.embed_url).toBe(`https://sandbox.example/embed/${id}`);
  });

  test('does not answer to other names', async () => {
    expect((await askBy('evil.example', service, '/v1/channels')).status).toBe(421);
  });
});
