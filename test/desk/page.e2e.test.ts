import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { violationsOf } from '../browser/axe.ts';
import { complaintsOf, openBrowser, type TestBrowser } from '../browser/browser.ts';
import { needs } from '../support/needs.ts';
import { hands } from './hand.ts';
import { pageDeeds } from './page-deeds.ts';
import { openPageDesk, pageJobs } from './page-jobs.ts';
import type { PageDesk } from './page-jobs.ts';

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
    const deed = pageDeeds[job.job];
    await job.prepare?.(desk);
    await tab.goto(new URL(deed?.address ?? '', tab.url()).href);
    await expectSound(tab);
    const hand = handAt(tab);
    await deed?.does(hand);
    await job.after?.(desk);
    expect(hand.presses()).toBe(deed?.presses);
    await expectSound(tab);
  });
});

test('every deed of the page is a job here, and takes at most two presses', () => {
  expect(pageJobs.map(({ job }) => job).toSorted()).toEqual(Object.keys(pageDeeds).toSorted());
  expect(Object.values(pageDeeds).filter(({ presses }) => presses > 2)).toEqual([]);
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
