import { Hono } from 'hono';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../../packages/sandbox/src/http/api-error.ts';
import { lazily } from '../../../packages/sandbox/src/http/site.ts';

const site = (load: () => Promise<Hono>) => {
  const app = new Hono().all('/part/*', lazily(load));
  app.onError((error) => new Response(error.message, { status: error instanceof ApiError ? error.status : 500 }));
  return app;
};
const part = () =>
  new Hono()
    .get('/part/there', (context) => context.text('there'))
    .get('/part/broken', () => {
      throw new Error('of the part');
    });

test('a part is loaded once, for its first request, and all wait for it', async () => {
  const loading = Promise.withResolvers<Hono>();
  const load = vi.fn(() => loading.promise);
  const app = site(load);
  expect(load).not.toHaveBeenCalled();
  const answers = Promise.all([app.request('/part/there'), app.request('/part/there')]);
  loading.resolve(part());
  for (const answer of await answers) expect(await answer.text()).toBe('there');
  await app.request('/part/there');
  expect(load).toHaveBeenCalledOnce();
});

test('a part that could not be loaded is loaded for a later request', async () => {
  const load = vi.fn<() => Promise<Hono>>().mockRejectedValueOnce(new Error('too many open files'));
  load.mockImplementation(async () => part());
  const app = site(load);
  expect(await (await app.request('/part/there')).text()).toBe('too many open files');
  expect((await app.request('/part/there')).status).toBe(200);
});

test('what a part throws, and what it does not have, is for the site to answer', async () => {
  const app = site(async () => part());
  expect(await (await app.request('/part/broken')).text()).toBe('of the part');
  const missing = await app.request('/part/missing');
  expect([missing.status, await missing.text()]).toEqual([404, 'There is nothing at this path.']);
});
