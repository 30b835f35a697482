import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSandbox, type Json, type RunningSandbox } from '../running-sandbox.ts';
import { admin } from './admin-side.ts';

let service: RunningSandbox;
let endpoints: { method: string; path: string; says: string }[];

beforeAll(async () => {
  service = await runSandbox({ requestsPerHour: 1 });
  endpoints = (await admin(service, 'GET /')).body.data.endpoints;
});
afterAll(() => service.sandbox.close());

test('the index describes each endpoint', () => {
  expect(endpoints.map(({ method, path }) => `${method} ${path.replace('/_sandbox', '')}`).toSorted()).toEqual(
    [
      'DELETE /faults',
      'DELETE /faults/:id',
      'DELETE /keys/:id',
      'DELETE /requests',
      'DELETE /webhooks/:id',
      'GET /clock',
      'GET /export',
      'GET /faults',
      'GET /keys',
      'GET /profile',
      'GET /rate-limit',
      'GET /requests',
      'GET /requests/:number',
      'GET /state',
      'POST /channels',
      'DELETE /channels/:id',
      'POST /feeds',
      'DELETE /feeds/:id',
      'POST /videos',
      'POST /plays',
      'GET /snapshots',
      'PUT /snapshots/:name',
      'POST /snapshots/:name/restore',
      'DELETE /snapshots/:name',
      'GET /webhooks',
      'GET /webhooks/:id/deliveries',
      'POST /clock/advance',
      'POST /faults',
      'POST /import',
      'POST /keys',
      'POST /profile/switches',
      'POST /reset',
      'POST /seed',
      'POST /verify',
      'POST /videos/:id/fail',
      'POST /webhooks',
      'POST /webhooks/:id/deliveries/:delivery/redeliver',
      'PUT /clock',
      'PUT /faults',
      'PUT /profile',
      'PUT /rate-limit',
    ].toSorted(),
  );
  for (const { says } of endpoints) expect(says).toMatch(/^[A-Z].*\.$/s);
});

test.each([
  ['no token', {}],
  ['a wrong token', { authorization: 'Bearer wrong' }],
  ['the start of the token', () => ({ authorization: `Bearer ${service.sandbox.adminToken.slice(0, -1)}` })],
  ['an API key', () => ({ authorization: `Bearer ${service.sandbox.apiKey}` })],
  ['the token as another scheme', () => ({ authorization: `Basic ${service.sandbox.adminToken}` })],
  ['a cookie of that name with the token', () => ({ cookie: `${cookieName()}=${service.sandbox.adminToken}` })],
  ['the token in the query', {}],
])('%s opens no endpoint, not even one that is not there', async (what, headers) => {
  const query = what === 'the token in the query' ? `?token=${service.sandbox.adminToken}` : '';
  for (const { method, path } of [
    ...endpoints,
    { method: 'GET', path: '/_sandbox' },
    { method: 'GET', path: '/_sandbox/x' },
  ]) {
    const url = new URL(path + query, service.sandbox.adminUrl);
    const response = await fetch(url, { method, headers: typeof headers === 'function' ? headers() : headers });
    const body: Json = await response.json();
    expect([path, response.status, body.error.code]).toEqual([path, 401, 'unauthorized']);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  }
});

test('the admin token is not an API key', async () => {
  const { status } = await service.call('GET', '/videos', undefined, {
    authorization: `Bearer ${service.sandbox.adminToken}`,
  });
  expect(status).toBe(401);
});

test('it is never limited, and costs no key anything', async () => {
  for (let index = 0; index < 20; index += 1) expect((await admin(service, 'GET /state')).status).toBe(200);
  expect((await service.call('GET', '/videos')).status).toBe(200);
  expect((await service.call('GET', '/videos')).status).toBe(429);
  expect((await admin(service, 'GET /state')).status).toBe(200);
});

test('an unknown path is 404, a wrong method 405 with Allow, both in the form of all errors', async () => {
  expect(await admin(service, 'GET /nothing')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  const refused = await admin(service, 'PATCH /clock', {});
  expect(refused).toMatchObject({ status: 405, body: { error: { code: 'method_not_allowed' } } });
  expect(refused.headers.get('allow')).toBe('GET, PUT, HEAD, OPTIONS');
  expect((await admin(service, 'OPTIONS /keys')).headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
  expect((await admin(service, 'HEAD /state')).status).toBe(200);
});

const deep = '['.repeat(100_000);
const hostile: readonly [string, unknown][] = [
  ['POST /keys', {}],
  ['POST /keys', { name: '' }],
  ['POST /keys', { name: 7 }],
  ['POST /keys', { name: 'x'.repeat(201) }],
  ['POST /keys', { name: 'a\u0000b' }],
  ['POST /keys', { name: 'x', read_only: 'yes' }],
  ['POST /keys', { name: 'x', scope: 'all' }],
  ['PUT /clock', {}],
  ['PUT /clock', { frozen: 1 }],
  ['PUT /clock', { frozen: true, at: 'now' }],
  ['PUT /clock', null],
  ['POST /clock/advance', {}],
  ['POST /clock/advance', { ms: -1 }],
  ['POST /clock/advance', { ms: 1.5 }],
  ['POST /clock/advance', { ms: 1e300 }],
  ['POST /clock/advance', { ms: 9_000_000_000_000_000 }],
  ['POST /clock/advance', { by: '1 week' }],
  ['POST /clock/advance', { by: '999999999999d' }],
  ['POST /clock/advance', { ms: 1, by: '1h' }],
  ['PUT /rate-limit', { requests_per_hour: 0 }],
  ['PUT /rate-limit', { requests_per_hour: '50' }],
  ['PUT /rate-limit', { requests_per_hour: 2e9 }],
  ['PUT /rate-limit', { limit: 5 }],
  ['POST /seed', { videos: 1001 }],
  ['POST /seed', { videos: -1 }],
  ['POST /seed', { days: 367 }],
  ['POST /seed', { channels: 3 }],
  ['POST /seed', []],
  ['POST /videos/vid_x/fail', {}],
  ['POST /videos/vid_x/fail', { code: 'Has Spaces', message: 'x' }],
  ['POST /videos/vid_x/fail', { code: 'ok', message: 'x'.repeat(1001) }],
  ['GET /requests?limit=0', undefined],
  ['GET /requests?limit=1001', undefined],
  ['GET /requests?status=abc', undefined],
  ['GET /requests?since=yesterday', undefined],
  ['GET /requests?limit=1&limit=2', undefined],
  ['GET /requests?page=1', undefined],
  ['GET /export?media=yes', undefined],
  ['POST /import', {}],
];

test.each(
  hostile.map(([request, body]) => ({ request, body, shown: JSON.stringify(body)?.slice(0, 60) ?? 'no body' })),
)('$request with $shown is refused with 422 and a sentence, and changes nothing', async ({ request, body }) => {
  const before = (await admin(service, 'GET /export')).body.tables;
  const { status, body: refusal } = await admin(service, request as `GET /${string}`, body);
  expect([status, refusal.error.code]).toEqual([422, 'invalid_request']);
  expect(refusal.error.message).toMatch(/^.{5,300}\.$/s);
  expect((await admin(service, 'GET /export')).body.tables).toEqual(before);
});

test.each([
  'POST /keys',
  'PUT /clock',
  'POST /clock/advance',
  'PUT /rate-limit',
  'POST /import',
  'POST /videos/x/fail',
])('%s wants JSON, and of a sane size', async (request) => {
  const asked = request as `GET /${string}`;
  expect((await admin(service, asked, '{')).status).toBe(400);
  expect((await admin(service, asked, deep)).status).toBe(400);
  expect((await admin(service, asked)).status).toBe(400);
  expect((await admin(service, asked, '{}', { 'content-type': 'text/plain' })).status).toBe(415);
  const tooMuch = request === 'POST /import' ? undefined : `{"name":"${'x'.repeat(1024 * 1024)}"}`;
  if (tooMuch !== undefined) expect((await admin(service, asked, tooMuch)).status).toBe(413);
});

function cookieName(): string {
  return `dropcast_sandbox_${service.sandbox.port}`;
}
