import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { violationsOf } from '../../browser/axe.ts';
import { complaintsOf, openBrowser, type TestBrowser } from '../../browser/browser.ts';
import { takeScreenshot } from '../../browser/screenshot.ts';
import { needs } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { busyPage, type BusyPage } from './busy-page.ts';

const VIEWS = {
  overview: '/',
  folders: '/folders',
  events: '/events',
  past: '/events?since=7d&text=%3Cimg',
  days: '/days',
  configuration: '/configuration?path=NEWS/late/evening.mp4',
  missing: '/nowhere',
};

/** What of axe's rules colours can break, and what the width can: the others see the same elements as in the first look. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
const LAYOUT_RULES = ['target-size', 'scrollable-region-focusable', 'region', 'empty-heading'];

let busy: BusyPage;
let browser: TestBrowser;

/** A page that came in by the link of `dropcast open`. */
async function enter(right: 'look' | 'change' = 'look', options: Parameters<TestBrowser['newPage']>[0] = {}) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(15_000); // below the 30 s after which a view refreshes on its own, whatever it received
  await page.goto(busy.page.link(right));
  await page.waitForURL('**/');
  return page;
}

const at = (path: string, { port } = busy.page) =>
  `http://127.0.0.1:${port}${path.replace('NEWS', busy.daemon.config().folders[0]?.path ?? '')}`;
const isWithinTheWindow = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth');

describe('the page of the daemon in Chromium', needs('chromium'), () => {
  beforeAll(async () => {
    [busy, browser] = await Promise.all([busyPage(), openBrowser()]);
  });
  afterEach(() => browser.closePages());
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await busy[Symbol.asyncDispose]();
  });

  test('no view has a violation that axe knows, light, dark, narrow or wide, nor is it wider than the window', async () => {
    const page = await enter('change', { reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 360, height: 800 });
    await page
      .locator('#health .badge')
      .evaluate('(badge) => badge.append(" the key is not valid (any more); change it".repeat(4))');
    expect(await isWithinTheWindow(page), 'a long sentence of health').toBe(true);
    for (const [name, path] of Object.entries(VIEWS)) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1600, height: 1000 });
      await page.goto(at(path));
      await takeScreenshot(page, `status-${name}-light-1600`);
      await page.evaluate('document.querySelectorAll("details").forEach((details) => (details.open = true))');
      expect(await violationsOf(page), name).toEqual([]);
      expect(await isWithinTheWindow(page), name).toBe(true);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await violationsOf(page, COLOR_RULES), name).toEqual([]);
      // 1280 px at 200 %.
      await page.setViewportSize({ width: 640, height: 400 });
      expect(await isWithinTheWindow(page), name).toBe(true);
      await page.setViewportSize({ width: 360, height: 800 });
      await takeScreenshot(page, `status-${name}-dark-360`);
      expect(await violationsOf(page, LAYOUT_RULES), name).toEqual([]);
      expect(await isWithinTheWindow(page), name).toBe(true);
    }
    expect(complaintsOf(page).filter((text) => !text.includes('404'))).toEqual([]);
  });

  test('a stranger sees how to get in, without violations, and nothing else', async () => {
    const page = await browser.newPage();
    await page.goto(at('/'));
    expect(await page.getByRole('heading').allTextContents()).toEqual(['This is dropcast']);
    await takeScreenshot(page, 'status-stranger');
    expect(await violationsOf(page)).toEqual([]);
  });

  test('without scripts a path is tried, events are filtered, and sign-out works', async () => {
    const page = await enter('look', { javaScriptEnabled: false });
    await page.getByRole('link', { name: 'Configuration', exact: true }).click();
    await page.getByLabel('Path of a file').fill(`${busy.daemon.config().folders[0]?.path}/late/x.mp4`);
    await page.getByRole('button', { name: 'Explain' }).click();
    expect(await page.locator('#tried').innerText()).toMatch(/taken[^]*ch_news[^]*late: x/);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByLabel('Level').selectOption('Errors');
    await page.getByRole('button', { name: 'Show' }).click();
    expect(new URL(page.url()).searchParams.get('level')).toBe('error');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.goto(at('/events'));
    expect(await page.getByRole('heading').allTextContents()).toEqual(['This is dropcast']);
  });

  test('an event appears without a reload, and leaves focus, a half-typed filter and the place as they are', async () => {
    const page = await enter('look', { viewport: { width: 800, height: 300 } });
    await page.goto(at('/events'));
    await page.getByLabel('Text').fill('half a wo');
    await page.evaluate('scrollTo(0, 90)');
    const placeOf = () =>
      page.evaluate<string>('[scrollY, document.activeElement.name, document.activeElement.value].join()');
    const before = await placeOf();
    await busy.drop('clip.mp4', 'late/breaking.mp4');
    await page.getByText('late/breaking.mp4').first().waitFor();
    expect(await placeOf()).toBe(before);
    expect(complaintsOf(page)).toEqual([]);
  });

  test('all of it can be reached by keyboard, and one sees where one is', async () => {
    const page = await enter();
    await page.goto(at('/configuration'));
    const names: string[] = [];
    for (let n = 0; n < 14; n += 1) {
      await page.keyboard.press('Tab');
      names.push(
        await page.evaluate<string>('(document.activeElement.innerText || document.activeElement.name || "").trim()'),
      );
      const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
      expect(outline, names.at(-1)).not.toBe('none');
    }
    expect(names).toEqual(
      expect.arrayContaining(['Skip to the content', 'Sign out', 'Overview', 'Events', 'path', 'Explain']),
    );
  });

  test('a lost connection is said in words, with the time of what is shown, and so is its return', async () => {
    const own = await busy.serve();
    const { port } = own;
    const page = await browser.newPage();
    await page.clock.install();
    await page.goto(own.link('look'));
    await page.waitForURL('**/');
    await page.goto(at('/folders', own));
    await page.locator('#connection').waitFor({ state: 'attached' });
    await own[Symbol.asyncDispose]();
    await page.getByText(/^Connection lost: data from \d\d:\d\d:\d\d\. Retrying…$/).waitFor();
    await takeScreenshot(page, 'status-connection-lost');
    await using back = await busy.serve(port);
    await page.clock.runFor(2000); // after which it tries again
    await until('it is back', async () => (await page.locator('#connection').textContent()) === '');
    expect(back.port).toBe(port);
  });
});
