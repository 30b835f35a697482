import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { giveCookie } from '../../../packages/sandbox/src/embed/routes.ts';

async function cookieAt(address: string): Promise<string | null> {
  const site = new Hono().get('/embed/:id', (context) => {
    giveCookie(context);
    return context.body(null);
  });
  return (await site.request(address)).headers.get('set-cookie');
}

test('over https frames on other sites send the cookie back', async () => {
  const attributes = 'Max-Age=7776000; Path=/embed; HttpOnly; Secure; SameSite=None; Partitioned';
  expect(await cookieAt('https://localhost/embed/vid_1')).toMatch(
    new RegExp(`^dropcast_viewer=[\\w-]{20}; ${attributes}$`),
  );
});

test('over http, where browsers would refuse such a cookie, it does not', async () => {
  expect(await cookieAt('http://localhost/embed/vid_1')).toMatch(/; HttpOnly; SameSite=Lax$/);
});
