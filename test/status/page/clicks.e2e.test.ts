import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complaintsOf, openBrowser, type TestBrowser } from '../../browser/browser.ts';
import { pressAt } from '../../browser/keyboard.ts';
import { takeScreenshot } from '../../browser/screenshot.ts';
import { needs } from '../../support/needs.ts';
import { openStation } from './acting-station.ts';
import { knowsOnly } from '../../e2e/answers.ts';

let browser: TestBrowser;

/** What a hand is at: focus, a choice in a form, marked words, the place in the page. */
const hand = (page: Page) =>
  page.evaluate<string>(
    `JSON.stringify([document.activeElement.name, document.activeElement.value, getSelection().toString(), scrollY])`,
  );

describe('the page in Chromium', needs('chromium'), () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  test('a wrong channel is found and fixed on a phone, by the keyboard alone, and nothing moves in the meantime', async () => {
    const channels = ['ch_main', 'ch_news'];
    await using station = await openStation({
      channels: () => channels,
      meddle: knowsOnly(channels, 404),
    });
    channels.shift();
    for (const name of ['a.mpg', 'b.mpg']) await station.drop(name);
    for (const name of ['a.mpg', 'b.mpg']) await station.reaches(name, 'retrying');
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' });
    page.setDefaultTimeout(20_000);
    await page.goto(station.page.link('change'));
    await page.waitForURL('**/');
    await page.getByText('2 .mpg files wait for channel ch_main').waitFor();
    await takeScreenshot(page, 'wrong-channel-360');

    const choice = page.getByLabel('Send all 2 to');
    await choice.focus();
    await page.evaluate(
      'getSelection().selectAllChildren(document.querySelector("[data-key=needs-you] h3 a")); scrollTo(0, 120)',
    );
    const before = await hand(page);
    await station.drop('c.mpg');
    await page.getByText('3 .mpg files wait for channel ch_main').waitFor();
    expect(JSON.parse(await hand(page))).toEqual(
      (JSON.parse(before) as unknown[]).map((part) =>
        part === '2 .mpg files wait for channel ch_main, which the service does not have'
          ? expect.stringContaining('.mpg files')
          : part,
      ),
    );

    await pressAt(page, page.getByRole('button', { name: 'Send…' }), 'Enter');
    await page.getByText('To channel ch_news').waitFor();
    await takeScreenshot(page, 'wrong-channel-cost-360');
    await pressAt(page, page.getByRole('button', { name: 'Send to another channel: 3 files' }), 'Enter');
    await page.getByText('3 files sent to another channel.').waitFor();
    await takeScreenshot(page, 'wrong-channel-sent-360');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText("All 3 of today's files are live").waitFor();
    expect([...station.host.videos.values()].map(({ channelId }) => channelId)).toEqual([
      'ch_news',
      'ch_news',
      'ch_news',
    ]);
    expect(complaintsOf(page)).toEqual([]);
  });
});
