import { afterAll, beforeAll, expect, test } from 'vitest';
import { admin } from '../admin/admin-side.ts';
import { runSandbox, type RunningSandbox } from '../running-sandbox.ts';
import { Visitor } from './visitor.ts';

let service: RunningSandbox;
let visitor: Visitor;
let videoId: string;

beforeAll(async () => {
  service = await runSandbox();
  visitor = await Visitor.enter(service.sandbox);
  videoId = (await service.create({ title: 'A private title' })).id;
});
afterAll(() => service.sandbox.close());

const VIEWS = [
  '/',
  '/_page/videos',
  '/_page/channels',
  '/_page/feeds',
  '/_page/feeds/feed_news',
  '/_page/analytics',
  '/_page/keys',
  '/_page/webhooks',
  '/_page/requests',
  '/_page/verify',
  '/_page/faults',
  '/_page/controls',
];

test('the printed address leads to the overview, and the token stays in no address', async () => {
  const entry = await fetch(service.sandbox.pageUrl, { redirect: 'manual' });
  expect(entry.status).toBe(303);
  expect(entry.headers.get('location')).toBe('/');
  expect((await visitor.get('/')).html).toContain('A private title');
});

test.each([...VIEWS, '/_page/live', '/_page/videos/vid_x', '/_page/nothing', '/_page'])(
  'without the cookie %s says how to come in, and nothing of the account',
  async (path) => {
    for (const headers of [
      {},
      { cookie: 'dropcast_sandbox=1' },
      { authorization: `Bearer ${service.sandbox.apiKey}` },
    ]) {
      const response = await fetch(new URL(path, service.sandbox.baseUrl), { headers: { ...headers } });
      const text = await response.text();
      expect([path, response.status]).toEqual([path, 401]);
      expect(text).toContain('Open in a browser');
      expect(text).not.toMatch(/Nobody else|ch_news|News|videos\.list/);
    }
  },
);

test('a wrong token in the address opens nothing', async () => {
  const response = await fetch(new URL('/?token=wrong', service.sandbox.baseUrl));
  expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
  expect(await response.text()).toContain('Open in a browser');
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another port of this machine', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
  ['an old browser on another site', { origin: 'http://evil.example' }],
  ['nobody says where', {}],
])('a form that %s sends with the cookie is refused, and changes nothing', async (_what, headers) => {
  for (const path of ['/_page/reset', `/_page/videos/${videoId}/delete`, '/_page/keys', '/_page/faults/clear'])
    expect([path, (await visitor.post(path, { name: 'mine' }, headers as Record<string, string>)).status]).toEqual([
      path,
      403,
    ]);
  expect((await service.call('GET', `/videos/${videoId}`)).status).toBe(200);
  expect((await admin(service, 'GET /keys')).body.data).toHaveLength(1);
});

test('no view can be loaded by others, load from others, or be kept', async () => {
  for (const path of [...VIEWS, `/_page/videos/${videoId}`, '/_page/nothing']) {
    const { headers } = await visitor.get(path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toBe('text/html; charset=UTF-8');
  }
});

test('browsers cache style and script permanently; their address changes with their content', async () => {
  const { html } = await visitor.get('/');
  const paths = [...html.matchAll(/(?:href|src)="(\/_page\/assets\/[0-9a-f]{12}\/[\w.]+)"/g)].map(
    ([, path]) => path ?? '',
  );
  expect(new Set(paths).size).toBe(3);
  for (const path of paths) {
    const response = await fetch(new URL(path, service.sandbox.baseUrl));
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toContain('immutable');
  }
  const old = paths[0]?.replace(/[0-9a-f]{12}/, '000000000000') ?? '';
  expect((await visitor.get(old)).status).toBe(404);
});

test('the page is in no journal, and costs no key anything', async () => {
  await admin(service, 'DELETE /requests');
  for (const path of VIEWS) await visitor.get(path);
  expect(service.sandbox.requests()).toEqual([]);
});

test('no view has the value of a key, the admin token or an upload address', async () => {
  const { upload_url: uploadUrl } = await service.create();
  await fetch(uploadUrl, { method: 'PUT', body: 'x' });
  const secrets = [service.sandbox.apiKey, service.sandbox.adminToken, uploadUrl.split('/').at(-1) ?? ''];
  const numbers = service.sandbox.requests().map(({ number }) => `/_page/requests/${number}`);
  expect(numbers.length).toBeGreaterThan(1);
  for (const path of [...VIEWS, `/_page/videos/${videoId}`, ...numbers]) {
    const { html } = await visitor.get(path);
    for (const secret of secrets) expect(html.includes(secret), path).toBe(false);
  }
});
