import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { violationsOf } from '../browser/axe.ts';
import { complaintsOf, openBrowser, type TestBrowser } from '../browser/browser.ts';
import { needs } from '../support/needs.ts';
import { finger, keyboard } from './hand.ts';
import { openPageDesk, pageJobs } from './page-jobs.ts';
import type { PageDesk } from './page-jobs.ts';

const hands = [
  ['the keyboard', keyboard, { viewport: { width: 1600, height: 1000 } }],
  ['touch on a phone', finger, { viewport: { width: 360, height: 740 }, hasTouch: true }],
] as const;

/** Of axe's rules those that colours can break. */
const colorRules = ['color-contrast', 'link-in-text-block'];

describe.each(hands)('the daily jobs of a desk on the page, by %s', needs('chromium'), (_name, handAt, look) => {
  let browser: TestBrowser;
  let desk: PageDesk;
  let tab: Page;

  beforeAll(async () => {
    [desk, browser] = await Promise.all([openPageDesk(), openBrowser()]);
    tab = await browser.newPage(look);
    tab.setDefaultTimeout(20_000);
    await tab.goto(desk.station.page.link('change'));
    await tab.waitForURL('**/');
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await desk[Symbol.asyncDispose]();
  });

  test.each(pageJobs.map((job) => [job.job, job] as const))('%s', async (_job, job) => {
    await job.prepare(desk);
    await tab.goto(new URL(job.address, tab.url()).href);
    await expectSound(tab);
    const hand = handAt(tab);
    await job.does(hand, desk);
    await job.sees(hand, desk);
    expect(hand.presses()).toBe(job.presses);
    await expectSound(tab);
  });
});

test('no daily job on the page takes more than two presses', () => {
  expect(pageJobs.filter(({ presses }) => presses > 2)).toEqual([]);
});

/** No violation, light and dark, and nothing wider than the window. */
async function expectSound(tab: Page): Promise<void> {
  await tab.emulateMedia({ colorScheme: 'light' });
  expect(await violationsOf(tab)).toEqual([]);
  await tab.emulateMedia({ colorScheme: 'dark' });
  expect(await violationsOf(tab, colorRules)).toEqual([]);
  expect(await tab.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(complaintsOf(tab)).toEqual([]);
}
