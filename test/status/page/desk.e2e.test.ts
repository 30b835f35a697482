import { rm } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { violationsOf } from '../../browser/axe.ts';
import { complaintsOf, openBrowser, type TestBrowser } from '../../browser/browser.ts';
import { pressAt } from '../../browser/keyboard.ts';
import { takeScreenshot } from '../../browser/screenshot.ts';
import { needs } from '../../support/needs.ts';
import { startServer } from '../../support/server.ts';
import { openStation } from './acting-station.ts';

let browser: TestBrowser;

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, colorScheme: 'dark' } as const;

type Station = Awaited<ReturnType<typeof openStation>>;

async function enter({ page }: Station, path: string, options: Parameters<TestBrowser['newPage']>[0] = {}) {
  const tab = await browser.newPage(options);
  tab.setDefaultTimeout(20_000);
  const link = page.link('change');
  await tab.request.get(link);
  await tab.goto(new URL(path, link).href);
  return tab;
}

/** Light and dark, as wide as the tab is: no violation, and nothing wider than the window. */
async function expectSound(tab: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme });
    await takeScreenshot(tab, `desk-${name}-${colorScheme}`);
    expect(await violationsOf(tab), `${name} ${colorScheme}`).toEqual([]);
  }
  expect(await tab.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
  expect(complaintsOf(tab), name).toEqual([]);
}

describe('the daily work of a desk in Chromium, without a shell', needs('chromium'), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterEach(() => browser.closePages());
  afterAll(() => browser[Symbol.asyncDispose]());

  test('the reader chooses dark or light colours by keyboard and by touch, whatever the system says', async () => {
    await using station = await openStation();
    const ground = (tab: Page) => tab.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const [light, dark] = ['rgb(245, 246, 248)', 'rgb(13, 16, 21)'];
    const wide = await enter(station, '/folders', { colorScheme: 'light' });
    expect(await ground(wide)).toBe(light);
    await wide.getByRole('button', { name: 'Colours: system' }).press('Enter');
    await wide.getByRole('button', { name: 'Colours: dark' }).waitFor();
    expect([await ground(wide), new URL(wide.url()).pathname]).toEqual([dark, '/folders']);
    await expectSound(wide, 'dark-chosen');
    const tab = await enter(station, '/folders', phone);
    expect(await ground(tab)).toBe(dark);
    await tab.getByRole('button', { name: 'Colours: system' }).tap();
    await tab.getByRole('button', { name: 'Colours: dark' }).tap();
    await tab.getByRole('button', { name: 'Colours: light' }).waitFor();
    expect(await ground(tab)).toBe(light);
    await expectSound(tab, 'light-chosen');
    await tab.getByRole('button', { name: 'Colours: light' }).tap();
    await tab.getByRole('button', { name: 'Colours: system' }).waitFor();
    await tab.emulateMedia({ colorScheme: 'dark' });
    expect(await ground(tab)).toBe(dark);
  });

  test('a frozen folder is resumed by touch, after its reader confirmed what that states', async () => {
    await using station = await openStation();
    const names = Array.from({ length: 12 }, (_, n) => `clip ${n}.mpg`);
    for (const name of names) await station.drop(name);
    for (const name of names) await station.reaches(name, 'done');
    for (const name of names) await rm(`${station.inbox}/${name}`);
    await station.daemon.folders.rescan();
    const tab = await enter(station, '/folders', phone);
    await tab.getByText('Resume…').tap();
    await tab
      .getByText(`You state: The 12 missing files of ${station.inbox} are gone. dropcast knows 12 files in it.`)
      .waitFor();
    await expectSound(tab, 'frozen');
    await tab.getByRole('button', { name: 'Resume as stated' }).tap();
    await tab.getByText('watching', { exact: true }).waitFor();
    expect(station.daemon.news.since(0).map(({ text }) => text)).toContain(
      `Resumed by the status page: The 12 missing files of ${station.inbox} are gone`,
    );
  });

  test('a folder is paused until a time of day and resumed, by the keyboard alone', async () => {
    await using station = await openStation();
    const tab = await enter(station, '/folders');
    await pressAt(tab, tab.getByLabel('until'), 'Control+a');
    await tab.keyboard.type('23:59');
    await pressAt(tab, tab.getByRole('button', { name: /^Pause/ }), 'Enter');
    await tab.getByText(/paused by the status page since .* until .*23:59/).waitFor();
    expect(new Date(station.daemon.pauses.list()[0]?.until ?? 0).getMinutes()).toBe(59);
    await expectSound(tab, 'paused');
    await pressAt(tab, tab.getByRole('button', { name: /^Resume/ }), 'Enter');
    await tab.getByRole('button', { name: /^Pause/ }).waitFor();
    expect(station.daemon.pauses.list()).toEqual([]);
  });

  test('a feed is published from its panel: by the keyboard, and by touch', async () => {
    await using station = await openStation({}, { publish: { quiet: '1h', at_most: '2h' } });
    for (const [name, options] of [
      ['a.mpg', {}],
      ['b.mpg', phone],
    ] as const) {
      await station.drop(name);
      await station.reaches(name, 'awaiting publish');
      const tab = await enter(station, '/', options);
      const [open, publish] = [tab.getByText('Publish… feed_news'), tab.getByRole('button', { name: 'Publish now' })];
      if ('hasTouch' in options) await open.tap();
      else await pressAt(tab, open, 'Enter');
      await tab.getByText('1 newer file, 1 request to the service.').waitFor();
      await expectSound(tab, `publish-${name}`);
      if ('hasTouch' in options) await publish.tap();
      else await pressAt(tab, publish, 'Enter');
      await station.reaches(name, 'done');
    }
  });

  test('rules that are being written are tried: by the keyboard, and by touch', async () => {
    await using station = await openStation();
    for (const options of [{}, phone]) {
      const tab = await enter(station, '/configuration', options);
      const link = tab.getByRole('link', { name: 'Try other rules' });
      const tryIt = tab.getByRole('button', { name: 'Try', exact: true });
      if ('hasTouch' in options) await link.tap();
      else await pressAt(tab, link, 'Enter');
      await tab.getByLabel('Path of a file').fill('<b>x\u202e.mpg');
      const rules = tab.getByLabel('Rules of');
      await rules.fill((await rules.inputValue()).replace('ch_main', 'ch_other'));
      if ('hasTouch' in options) await tryIt.tap();
      else await pressAt(tab, tryIt, 'Enter');
      await tab.getByText('valid rules').waitFor();
      await tab.locator('#tried').getByText('ch_other').first().waitFor();
      expect(await rules.inputValue()).toContain('channel: ch_other');
      await expectSound(tab, `try-${'hasTouch' in options ? 'phone' : 'wide'}`);
    }
  });

  test('a notification target is tested, and neither its address nor its token is shown', async () => {
    await using receiver = await startServer((request, response) => {
      const isBroken = request.url === '/broken';
      request.resume().on('end', () => {
        response.statusCode = isBroken ? 500 : 200;
        response.end(isBroken ? '<img src=x onerror=alert(1)>\u202e the-secret-token' : '');
      });
    });
    const notify = [
      { name: 'desk', type: 'webhook', url: `${receiver.origin}/T0KEN-in-the-path`, token: 'the-secret-token' },
      { name: 'broken', type: 'webhook', url: `${receiver.origin}/broken`, token: 'the-secret-token' },
    ];
    await using station = await openStation({}, { notify });
    const tab = await enter(station, '/configuration', phone);
    await tab.getByRole('button', { name: 'Send a test to desk' }).tap();
    await tab.getByText(/answered 200/).waitFor();
    await pressAt(tab, tab.getByRole('button', { name: 'Send a test to broken' }), 'Enter');
    await tab.getByText(/answered 500: <img src=x onerror=alert\(1\)>/).waitFor();
    await expectSound(tab, 'targets');
    const html = await tab.content();
    for (const secret of ['T0KEN', 'the-secret-token']) expect(html).not.toContain(secret);
  });
});
