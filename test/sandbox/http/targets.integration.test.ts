import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestText, talk } from '../faults/raw-http.ts';
import { appliedFaults, planFaults } from '../faults/plan-faults.ts';
import { readSample, runSandbox, type RunningSandbox } from '../running-sandbox.ts';

let service: RunningSandbox;
beforeAll(async () => {
  service = await runSandbox();
});
afterAll(() => service.sandbox.close());

const ask = async (line: string, headers: Record<string, string | number> = {}, body = '') => {
  const { port, apiKey } = service.sandbox;
  const common = { Authorization: `Bearer ${apiKey}`, Connection: 'close' };
  return (await talk(port, requestText(line, { ...common, ...headers }, body))).text;
};

test('an upload by a whole address, as proxies get it, is taken', async () => {
  const { id, upload_url: url } = await service.create();
  const clip = (await readSample('clip.mp4')).toString('latin1');
  const { port } = service.sandbox;
  const sent = Buffer.from(
    requestText(`PUT ${url}`, { 'Content-Length': clip.length, Connection: 'close' }, clip),
    'latin1',
  );
  expect((await talk(port, sent)).text).toMatch(/^HTTP\/1\.1 200 /);
  expect((await service.ended(id)).status).toBe('ready');
});

test.each(['/_sandbox/%2e%2e/v1/channels', '/v1/%63hannels', '/v1/videos/../channels'])(
  'GET %s is channels.list for the routes, the journal and planned faults',
  async (target) => {
    expect(await ask(`GET ${target}`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(service.sandbox.requests().at(-1)).toMatchObject({ operation: 'channels.list', path: '/v1/channels' });
    await planFaults(service, { kind: 'status', status: 503, operation: 'channels.list' });
    expect(await ask(`GET ${target}`)).toMatch(/^HTTP\/1\.1 503 /);
    expect(await appliedFaults(service)).toEqual([1]);
    await planFaults(service);
  },
);

test('two Host headers are refused, whichever is the right one', async () => {
  for (const host of ['Host: evil.example', 'Host: 127.0.0.1'])
    expect(await ask('GET /v1/channels', { 'X-First': `1\r\n${host}` })).toMatch(/^HTTP\/1\.1 421 /);
});

describe('pages of other sites', () => {
  const origin = { origin: 'https://other.example' };
  const asksToSend = {
    ...origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };

  test('5 may not use a key or the admin side from a browser', async () => {
    const { baseUrl, adminUrl, adminToken, apiKey } = service.sandbox;
    for (const [url, token] of [
      [`${baseUrl}/videos`, apiKey],
      [`${adminUrl}/state`, adminToken],
    ] as const) {
      for (const method of ['OPTIONS', 'GET']) {
        const { headers } = await fetch(url, { method, headers: { ...asksToSend, authorization: `Bearer ${token}` } });
        const given = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
        expect([url, method, given]).toEqual([url, method, []]);
      }
    }
  });

  test('may read feeds and media, which need no key', async () => {
    const { id } = await service.upload('clip.mp4');
    const root = new URL('/', service.sandbox.baseUrl).href;
    for (const path of ['feeds/feed_main.xml', `cdn/videos/${id}.mp4`])
      expect((await fetch(root + path, { headers: origin })).headers.get('access-control-allow-origin')).toBe('*');
  });
});
