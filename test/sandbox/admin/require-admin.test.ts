import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { enterByLink, requireAdmin } from '../../../packages/sandbox/src/admin/require-admin.ts';
import { ApiError } from '../../../packages/sandbox/src/http/api-error.ts';

const origin = 'http://127.0.0.1:8787';
const guarded = { adminToken: 'TOKEN', links: { origin } };

function site(of = guarded): Hono {
  const site = new Hono().use(enterByLink(of)).use(requireAdmin(of));
  site.all('*', (context) => context.text('in'));
  site.onError((error) => new Response(error.message, { status: error instanceof ApiError ? error.status : 500 }));
  return site;
}

/** Enters by the link as a browser does. */
async function cookieOf(app = site(), at = `${origin}/`): Promise<string> {
  const response = await app.request(`${at}?token=TOKEN`);
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

test('the link with the token sets a cookie that scripts do not get and other sites only follow by a link, and leads to the address without it', async () => {
  const response = await site().request(`${origin}/videos?page=2&token=TOKEN`);
  expect([response.status, response.headers.get('location')]).toEqual([303, '/videos?page=2']);
  const cookie = response.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^dropcast_sandbox_8787=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/);
  expect(cookie).not.toContain('TOKEN');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
});

test('over https the cookie is for https alone', async () => {
  const links = { origin: origin.replace('http', 'https') };
  const response = await site({ ...guarded, links }).request(`${links.origin}/?token=TOKEN`);
  expect(response.headers.get('set-cookie')).toMatch(/; Secure/);
});

test('a path that looks like another host leads nowhere else', async () => {
  const response = await site().request(`${origin}//evil.example/?token=TOKEN`);
  expect(new URL(response.headers.get('location') ?? '', origin).href).toBe(`${origin}/evil.example/`);
});

test.each(['wrong', '', 'TOKEN%20', 'token'])('a link with the token %j opens nothing', async (token) => {
  const response = await site().request(`${origin}/?token=${token}`);
  expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
});

test('a changing request is not let in by its query', async () => {
  expect((await site().request(`${origin}/?token=TOKEN`, { method: 'POST' })).status).toBe(401);
});

test('the cookie opens everything for reading', async () => {
  const cookie = await cookieOf();
  expect((await site().request(`${origin}/anything`, { headers: { cookie } })).status).toBe(200);
  expect((await site().request(`${origin}/anything`, { headers: { cookie: `a=b; ${cookie}` } })).status).toBe(200);
  for (const wrong of [`${cookie}x`, cookie.replace(/=.*/, '='), 'dropcast_sandbox_8787=TOKEN'])
    expect((await site().request(`${origin}/anything`, { headers: { cookie: wrong } })).status).toBe(401);
});

test('the cookie of another sandbox, and of an earlier run, is worth nothing', async () => {
  const other = { adminToken: 'OTHER', links: guarded.links };
  const cookie = await cookieOf();
  expect((await site(other).request(`${origin}/`, { headers: { cookie } })).status).toBe(401);
});

test.each([
  [{ 'sec-fetch-site': 'same-origin' }, 200],
  [{ origin }, 200],
  [{ 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:9999' }, 200],
  [{}, 403],
  [{ 'sec-fetch-site': 'cross-site', origin }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ 'sec-fetch-site': 'none' }, 403],
  [{ origin: 'http://127.0.0.1:9999' }, 403],
  [{ origin: 'null' }, 403],
])('with the cookie, a change that comes with %j is answered with %d', async (headers, status) => {
  const cookie = await cookieOf();
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const response = await site().request(`${origin}/keys`, {
      method,
      headers: { ...headers, cookie } as Record<string, string>,
    });
    expect([method, response.status]).toEqual([method, status]);
  }
});

test('the token as a Bearer token needs no origin', async () => {
  const headers = { authorization: 'bearer TOKEN', 'sec-fetch-site': 'cross-site' };
  expect((await site().request(`${origin}/keys`, { method: 'POST', headers })).status).toBe(200);
});
