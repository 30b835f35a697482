import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { violationsOf } from '../../browser/axe.ts';
import { complaintsOf, openBrowser, type TestBrowser } from '../../browser/browser.ts';
import { needs } from '../../support/needs.ts';
import { startServer } from '../../support/server.ts';
import { takeScreenshot } from '../../browser/screenshot.ts';
import { admin } from '../admin/admin-side.ts';
import { put, readSample, runSandbox, until, type RunningSandbox } from '../running-sandbox.ts';

const SAMPLES = new URL('../../media/', import.meta.url).pathname;

/** Titles that the API takes, and that must be nothing but text. */
const HOSTILE = {
  HTML: '<img src=x onerror=alert(1)><script>alert(2)</script>',
  quotes: `"' autofocus onfocus=alert(3) x='"></title></main>`,
  'control characters and both directions': 'a\u0001\u001b[2J\u202egnp.\u2066 \u05d0\u05d1',
  '500 characters': `${'W'.repeat(250)} ${'\u{1F600}'.repeat(124)}`,
  templates: '{{7*7}} ${7*7} javascript:alert(4)',
};

/** What of axe's rules colours can break, and what the width can: the others see the same elements as in the first look. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
const LAYOUT_RULES = ['target-size', 'scrollable-region-focusable', 'region', 'empty-heading'];

const EXPECTED = {
  expectations: [
    { request: { operation: 'videos.create', body: { title: HOSTILE.templates } }, exactly: 2 },
    { name: HOSTILE.quotes.slice(0, 90), request: { operation: 'videos.update', text: HOSTILE.HTML } },
  ],
  only: true,
};

let service: RunningSandbox;
let browser: TestBrowser;
let views: Record<string, string>;

/** A page that came in by the printed address. */
async function enter(options: Parameters<TestBrowser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(15_000); // below the 30 s after which a view refreshes on its own, whatever it received
  await page.goto(service.sandbox.pageUrl);
  return page;
}

const at = (path: string) => new URL(path, service.sandbox.baseUrl).href;
const isWithinTheWindow = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth');

describe('the page of the sandbox in Chromium', needs('chromium'), () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([runSandbox({ requestsPerHour: 1e6, samplesDir: SAMPLES }), openBrowser()]);
    await admin(service, 'POST /seed', { videos: 8, days: 30 });
    for (const title of Object.values(HOSTILE))
      await service.create({ title, description: title.repeat(15), tags: [title.slice(0, 200)] });
    await service.call('PATCH', '/channels/ch_main', {
      name: HOSTILE.HTML,
      description: HOSTILE['control characters and both directions'],
    });
    await admin(service, 'POST /webhooks', { url: 'http://127.0.0.1:9/hook' });
    for (const feed of ['feed_news', 'feed_main', 'feed_podcast']) await service.call('POST', `/feeds/${feed}/publish`);
    await admin(service, 'POST /keys', { name: HOSTILE.quotes });
    await admin(service, 'POST /faults', {
      kind: 'status',
      status: 503,
      message: HOSTILE.HTML,
      operation: 'feeds.list',
    });
    const { body: ready } = await service.call('GET', '/videos?status=ready');
    const { body: all } = await service.call('GET', '/videos');
    await service.call(
      'PATCH',
      '/videos/vid_none?a=%3Cscript%3E',
      {
        title: HOSTILE.HTML,
        description: HOSTILE['control characters and both directions'].repeat(50),
        tags: [HOSTILE['500 characters']],
      },
      { 'x-odd': HOSTILE.HTML },
    );
    const hostile = service.sandbox.requests().findLast(({ operation }) => operation === 'videos.update');
    if (!hostile) throw new Error('no request');
    views = {
      overview: '/',
      videos: '/_page/videos',
      ready: `/_page/videos/${ready.data[0].id}`,
      pending: `/_page/videos/${all.data[2].id}`,
      channels: '/_page/channels',
      feeds: '/_page/feeds',
      feed: '/_page/feeds/feed_main',
      analytics: '/_page/analytics',
      keys: '/_page/keys',
      webhooks: '/_page/webhooks',
      requests: '/_page/requests',
      request: `/_page/requests/${hostile.number}`,
      'request without a body': '/_page/requests/1',
      verify: `/_page/verify?document=${encodeURIComponent(JSON.stringify(EXPECTED))}`,
      faults: '/_page/faults',
      controls: '/_page/controls',
      missing: '/_page/videos/vid_nobody',
    };
  });
  afterEach(() => browser.closePages());
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await service.sandbox.close();
  });

  test('no view has a violation that axe knows, light, dark or narrow, nor is it wider than the window', async () => {
    const page = await enter();
    const open = async (name: string, path: string) => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(at(path));
      await page.evaluate('document.querySelectorAll("details").forEach((details) => (details.open = true))');
      await takeScreenshot(page, `page-${name}-light-1280`);
      expect(await violationsOf(page), name).toEqual([]);
      expect(await isWithinTheWindow(page), name).toBe(true);
    };
    for (const [name, path] of Object.entries(views)) {
      await open(name, path);
      await page.emulateMedia({ colorScheme: 'dark' });
      await takeScreenshot(page, `page-${name}-dark-1280`);
      expect(await violationsOf(page, COLOR_RULES), name).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      await takeScreenshot(page, `page-${name}-dark-360`);
      expect(await violationsOf(page, LAYOUT_RULES), name).toEqual([]);
      expect(await isWithinTheWindow(page), name).toBe(true);
    }
    expect(complaintsOf(page).filter((text) => !text.includes('404'))).toEqual([]);
  });

  test('a stranger sees a page without violations, and nothing else', async () => {
    const page = await browser.newPage();
    await page.goto(at('/'));
    expect(await page.getByRole('heading').allTextContents()).toEqual(['This is a dropcast sandbox']);
    expect(await violationsOf(page)).toEqual([]);
  });

  test('a link on a page of another site signs in, and leads to a view after sign-in', async () => {
    const links = `<a href="${service.sandbox.pageUrl}">Sign in</a> <a href="${at('/_page/requests')}">Requests</a>`;
    await using report = await startServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(links);
    });
    const page = await browser.newPage();
    for (const [link, heading] of [
      ['Sign in', 'Overview'],
      ['Requests', 'Requests'],
    ] as const) {
      await page.goto(report.origin.replace('127.0.0.1', 'localhost')); // another host is another site
      await page.getByRole('link', { name: link }).click();
      await page.waitForURL(at('/**'));
      expect(await page.locator('h1').textContent()).toBe(heading);
    }
  });

  test('any title is plain text in every view, opens nothing and breaks no layout', async () => {
    const page = await enter({ viewport: { width: 360, height: 700 } });
    const { body } = await service.call('GET', '/videos?per_page=100');
    const idOf = (title: string) => body.data.find((video: { title: string }) => video.title === title).id;
    const open = async (path: string) => {
      await page.goto(at(path));
      expect(await page.locator('main script, main [onerror], main [onfocus], main img[src="x"]').count()).toBe(0);
      expect(await isWithinTheWindow(page)).toBe(true);
    };
    for (const path of ['/', '/_page/videos']) await open(path);
    for (const [what, title] of Object.entries(HOSTILE)) {
      await open(`/_page/videos/${idOf(title)}`);
      const shown = (await page.locator('h1').textContent()) ?? '';
      const spelledOut = title
        .replaceAll('\u0001', '[U+0001]')
        .replaceAll('\u001b', '[U+001B]')
        .replaceAll('\u202e', '[U+202E]');
      expect(shown.trim().slice(0, 12), what).toBe(spelledOut.slice(0, 12));
      expect((await page.locator('h1').boundingBox())?.height, what).toBeLessThan(80);
    }
    expect(complaintsOf(page)).toEqual([]);
  });

  test('without scripts: a key is created, a fault hits, a feed is published, a video deleted', async () => {
    const { id } = await service.upload('clip.mp4', { title: 'Soon gone', channel_id: 'ch_news' });
    const page = await enter({ javaScriptEnabled: false });
    const follow = async (locator: Locator) => Promise.all([page.waitForEvent('load'), locator.click()]);
    const open = (name: string) => follow(page.getByRole('link', { name, exact: true }));
    const press = (name: string | RegExp) => follow(page.getByRole('button', { name }));

    await open('Keys');
    await page.getByLabel('Name').fill('Made by hand');
    await press('Create the key');
    const key = (await page.locator('#new-key code').textContent()) ?? '';
    const headers = { authorization: `Bearer ${key}` };
    expect((await service.call('GET', '/channels', undefined, headers)).status).toBe(200);

    await open('Faults');
    await press(/Switch on\s*: A proxy/);
    const hit = await fetch(`${service.sandbox.baseUrl}/channels`, { headers });
    expect([hit.status, hit.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8']);
    await page.reload();
    expect(await page.locator('#switches').innerText()).toMatch(/hit 1 of 1 call, 1[45] min/);
    await open('Requests');
    expect(await page.locator('tbody tr').first().innerText()).toContain('502 page of a proxy');
    await open('Faults');
    await press(/Switch off\s*: A proxy/);
    expect((await service.call('GET', '/channels', undefined, headers)).status).toBe(200);

    await open('Feeds');
    await press('Publish News');
    await follow(page.locator('#items').getByText('Soon gone'));
    await page.getByText('Delete…').click();
    await press('Delete the video');
    expect(await page.getByText('Soon gone').count()).toBe(0);
    expect((await service.call('GET', `/videos/${id}`)).status).toBe(404);
    expect(complaintsOf(page)).toEqual([]);
  });

  test('an upload appears without a reload, and its status changes', async () => {
    const page = await enter();
    await page.goto(at('/_page/videos'));
    await page.evaluate('document.documentElement.dataset.sameDocument = "yes"');
    const { id, upload_url: address } = await service.create({ title: 'Out of nowhere' });
    const row = page.locator(`tr[data-key="${id}"]`);
    await row.getByText('pending').waitFor();
    await put(address, await readSample('clip.mp4'));
    await row.getByText('ready').waitFor();
    const picture = row.locator('img.thumb');
    await until(
      async () => (await picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth)) || undefined,
    );
    expect(await page.locator('tbody tr').first().getAttribute('data-key')).toBe(id);
    await service.call('DELETE', `/videos/${id}`);
    await row.waitFor({ state: 'detached' });
    expect(await page.locator('html').getAttribute('data-same-document')).toBe('yes');
    expect(complaintsOf(page)).toEqual([]);
  });

  test('an update leaves focus, half-filled forms, open details and the place on the page as they are', async () => {
    const page = await enter({ viewport: { width: 800, height: 300 } });
    await page.goto(at('/_page/keys'));
    await page.getByText('Revoke…').last().click();
    await page.getByLabel('Name').fill('Half a na');
    await page.evaluate('scrollTo(0, 120)');
    const placeOf = () => page.evaluate<string>('[scrollY, document.activeElement.name].join()');
    const before = await placeOf();
    const { body } = await admin(service, 'POST /keys', { name: 'From elsewhere' });
    await page.locator(`tr[data-key="${body.data.id}"]`).waitFor();
    expect(await placeOf()).toBe(before);
    expect(await page.getByLabel('Name').inputValue()).toBe('Half a na');
    expect(await page.locator('details[open]').count()).toBe(1);
  });

  test('the new key stays until the page is left', async () => {
    const page = await enter();
    await page.goto(at('/_page/keys'));
    await page.getByLabel('Name').fill('To be copied');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const key = await page.locator('#new-key code').textContent();
    const { body } = await admin(service, 'POST /keys', { name: 'Meanwhile' });
    await page.locator(`tr[data-key="${body.data.id}"]`).waitFor();
    expect(await page.locator('#new-key code').textContent()).toBe(key);
    await page.reload();
    expect(await page.locator('#new-key').count()).toBe(0);
  });

  test('a request under way becomes complete before the eyes of the reader', async () => {
    const page = await enter();
    await admin(service, 'POST /faults', { kind: 'delay', ms: 3_600_000, operation: 'channels.update', times: 1 });
    const given = new AbortController();
    const call = fetch(`${service.sandbox.baseUrl}/channels/ch_news`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${service.sandbox.apiKey}`, 'content-type': 'application/json' },
      body: '{"name":"It\'s news"}',
      signal: given.signal,
    }).catch(() => 'given up');
    const { number } = await until(() =>
      service.sandbox
        .requests()
        .find(({ operation, durationMs }) => operation === 'channels.update' && durationMs === null),
    );
    await page.goto(at(`/_page/requests/${number}`));
    await page.getByText('still under way').waitFor();
    await page.getByText('ms: 3600000').waitFor();
    given.abort();
    expect(await call).toBe('given up');
    await page.getByText('no answer').waitFor();
    expect(complaintsOf(page)).toEqual([]);
  });

  test('updates do not disturb a running player', async () => {
    const { id } = await service.upload('clip.mp4', { title: 'To be played' });
    const page = await enter({ viewport: { width: 1280, height: 900 } });
    await page.goto(at(`/_page/videos/${id}`));
    const player = page.frameLocator('iframe.player').locator('video');
    await player.evaluate((video: { muted: boolean; mark?: string; play(): Promise<void> }) => {
      video.mark = 'the same';
      video.muted = true;
      return video.play();
    });
    await page.getByText('1 view by 1 viewer').waitFor();
    expect(await player.evaluate((video: { mark?: string }) => video.mark)).toBe('the same');
    await service.call('DELETE', `/videos/${id}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  });

  test('a hidden page sends no requests, and updates when it is visible again', async () => {
    const [page, other] = [await enter(), await enter()];
    for (const each of [page, other]) await each.goto(at('/_page/videos'));
    const setHidden = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
        document.dispatchEvent(new Event('visibilitychange'))`);
    const isLive = (request: Request) => request.url().endsWith('/_page/live');
    const [ended] = await Promise.all([page.waitForEvent('requestfailed', isLive), setHidden(true)]);
    expect(ended.failure()?.errorText).toBe('net::ERR_ABORTED');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const { id } = await service.create({ title: 'Unseen' });
    const row = `tr[data-key="${id}"]`;
    await other.locator(row).waitFor();
    expect(asked.filter((path) => !path.startsWith('/cdn/'))).toEqual([]);
    await setHidden(false);
    await page.locator(row).waitFor();
  });

  test('the page reports a lost connection, and reconnects to a sandbox that is back', async () => {
    const options = { adminToken: 'the-same-after-the-restart' };
    const before = await runSandbox(options);
    const { port } = before.sandbox;
    const page = await browser.newPage();
    await page.clock.install();
    await page.goto(before.sandbox.pageUrl);
    await page.locator('#connection').waitFor({ state: 'attached' });
    await before.sandbox.close();
    await page.getByText('Connection lost').waitFor();
    await takeScreenshot(page, 'page-connection-lost');
    await using after = await runSandbox({ ...options, port });
    await after.create({ title: 'After the restart' });
    await page.clock.runFor(2000); // after which it tries again
    await page.getByText('After the restart').waitFor();
    await until(async () => ((await page.locator('#connection').textContent()) === '' ? true : undefined));
  });

  test('the page reports "signed out" when another sandbox has taken the port', async () => {
    const before = await runSandbox();
    const { port } = before.sandbox;
    const page = await browser.newPage();
    await page.clock.install();
    await page.goto(before.sandbox.pageUrl);
    await before.sandbox.close();
    await page.getByText('Connection lost').waitFor();
    await using after = await runSandbox({ port });
    await page.clock.runFor(2000); // after which it tries again
    await page.getByText('Signed out').waitFor();
    expect(after.sandbox.requests()).toEqual([]);
  });
});
