import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, type TestBrowser } from '../../browser/browser.ts';
import { needs } from '../../support/needs.ts';
import { startServer, type RunningServer } from '../../support/server.ts';
import { admin } from '../admin/admin-side.ts';
import { readSample, runSandbox, type RunningSandbox } from '../running-sandbox.ts';

const APP = 'http://localhost:5173';

const preflight = (url: string, method: string, asked: string, origin = APP) =>
  fetch(url, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': asked },
  });

const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

describe('a page of another origin', () => {
  let service: RunningSandbox;
  beforeAll(async () => {
    service = await runSandbox({ corsOrigins: [APP] });
  });
  afterAll(() => service.sandbox.close());

  test('may send a file to an upload address, and read the answer, whatever it is', async () => {
    const { upload_url: url } = await service.create();
    const asked = await preflight(url, 'PUT', 'content-type', 'https://any.example');
    expect([asked.status, corsOf(asked)]).toEqual([
      204,
      expect.objectContaining({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'PUT',
        'access-control-allow-headers': '*',
      }),
    ]);
    const body = await readSample('clip.mp4');
    const put = () => fetch(url, { method: 'PUT', body, headers: { origin: APP } });
    await admin(service, 'POST /faults', { kind: 'status', status: 503, operation: 'uploads.put', times: 1 });
    for (const status of [503, 200, 409]) {
      const answer = await put();
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, '*']);
    }
  });

  test('may use the API only if it was allowed to', async () => {
    const url = `${service.sandbox.baseUrl}/videos`;
    expect(corsOf(await preflight(url, 'POST', 'authorization,content-type'))).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-headers': '*, Authorization',
      vary: 'Origin',
    });
    const refused = await preflight(url, 'POST', 'authorization', 'http://localhost:5174');
    expect([refused.status, corsOf(refused)]).toEqual([401, {}]);
    const answer = await fetch(url, { headers: { origin: APP } });
    expect([answer.status, corsOf(answer)['access-control-allow-origin']]).toEqual([401, APP]);
  });

  test('never gets a cookie allowed, and nothing of the admin side', async () => {
    const { upload_url: upload } = await service.create();
    for (const url of [upload, `${service.sandbox.baseUrl}/videos`])
      expect((await preflight(url, 'PUT', 'content-type')).headers.has('access-control-allow-credentials')).toBe(false);
    expect(corsOf(await preflight(`${service.sandbox.adminUrl}/state`, 'GET', 'authorization'))).toEqual({});
  });
});

test('with `*` every page may use the API', async () => {
  await using service = await runSandbox({ corsOrigins: ['*'] });
  const asked = await preflight(`${service.sandbox.baseUrl}/videos`, 'GET', 'authorization', 'https://any.example');
  expect(asked.headers.get('access-control-allow-origin')).toBe('*');
});

/** What a web application does to upload; the page gives `create` only where it may use the API itself. */
const UPLOAD = async ({ url, key, create }: { url: string; key: string; create: boolean }): Promise<string> => {
  // The last one as a library for tracing adds it.
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', traceparent: '00-0-0-00' };
  const created = create
    ? await fetch(url, { method: 'POST', headers, body: '{"title":"From a page"}' })
        .then((answer) => answer.json() as Promise<{ upload_url: string }>)
        .catch((error: unknown) => String(error))
    : { upload_url: url };
  if (typeof created === 'string') return created;
  const file = new File([new Uint8Array(70_000)], 'clip.mp4', { type: 'video/mp4' });
  const sent = await fetch(created.upload_url, { method: 'PUT', body: file });
  return `${sent.status} ${((await sent.json()) as { status: string }).status}`;
};

describe('in Chromium', needs('chromium'), () => {
  let browser: TestBrowser;
  let app: RunningServer;
  beforeAll(async () => {
    browser = await openBrowser();
    app = await startServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<p>App</p>'));
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  test('a web application uploads from its own origin, and creates videos only where that was allowed', async () => {
    const page = await browser.newPage();
    await page.goto(app.origin);
    await using closed = await runSandbox();
    await using open = await runSandbox({ corsOrigins: [app.origin] });
    const { upload_url: url } = await closed.create();
    const ask = ({ sandbox }: RunningSandbox) => ({
      url: `${sandbox.baseUrl}/videos`,
      key: sandbox.apiKey,
      create: true,
    });
    expect(await page.evaluate(UPLOAD, { url, key: '', create: false })).toBe('200 processing');
    expect(await page.evaluate(UPLOAD, ask(open))).toBe('200 processing');
    expect(await page.evaluate(UPLOAD, ask(closed))).toMatch(/Failed to fetch/);
  });
});
