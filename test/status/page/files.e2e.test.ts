import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { StatusPage } from '../../../src/status/page/serve.ts';
import { pressAt } from '../../browser/keyboard.ts';
import { violationsOf } from '../../browser/axe.ts';
import { complaintsOf, openBrowser } from '../../browser/browser.ts';
import type { TestBrowser } from '../../browser/browser.ts';
import { takeScreenshot } from '../../browser/screenshot.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { allFiles, daemonWith, kinds } from './files-world.ts';
import { servedPage } from './served-page.ts';

const listeners = new Set<(event: { readonly type: string }) => void>();

describe('the views of files in Chromium', needs('chromium'), () => {
  let scratch: ScratchDirectory;
  let ledger: Ledger;
  let page: StatusPage;
  let browser: TestBrowser;

  beforeAll(async () => {
    scratch = await scratchDirectory();
    ledger = await openLedger(scratch.file('state'));
    for (const facts of allFiles()) await ledger.insert(facts);
    const events = {
      listen: (listener: (event: { readonly type: string }) => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
    const daemon = { ...daemonWith(ledger), events } as unknown as ReturnType<typeof daemonWith>;
    page = await servedPage({ daemon });
    browser = await openBrowser();
  });
  afterEach(() => browser.closePages());
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await page[Symbol.asyncDispose]();
    await ledger[Symbol.asyncDispose]();
    await scratch[Symbol.asyncDispose]();
  });

  /** Somebody who may change things, at an address of the page. */
  async function enter(path: string, options: Parameters<TestBrowser['newPage']>[0] = {}): Promise<Page> {
    const tab = await browser.newPage(options);
    tab.setDefaultTimeout(15_000);
    const link = page.link('change');
    await tab.request.get(link);
    await tab.goto(new URL(path, link).href);
    return tab;
  }

  const looks = [
    ['phone', { width: 360, height: 740 }, 'dark'],
    ['wide', { width: 1600, height: 1000 }, 'light'],
  ] as const;
  const paths = {
    files: '/files?state=failed,retrying',
    failed: '/files/f_3',
    live: '/files/f_2',
    many: '/files/many?do=retry&which=all&state=failed',
  };
  test.for(Object.entries(paths))(
    '%s: no violation, nothing wider than the screen, dark and light',
    async ([name, path]) => {
      for (const [size, viewport, colorScheme] of looks) {
        const tab = await enter(path, { viewport, colorScheme });
        await takeScreenshot(tab, `${name}-${size}-${colorScheme}`);
        expect(await violationsOf(tab)).toEqual([]);
        expect(await tab.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        expect(complaintsOf(tab)).toEqual([]);
        // A trial run of the click finds a tick that its cell clips.
        if (name === 'files') await tab.getByRole('checkbox').first().check({ trial: true });
      }
    },
  );

  test('new files collect behind a link during reading, and a tick stays', async () => {
    const tab = await enter('/files?state=failed');
    const first = tab.locator('tbody tr').first();
    const before = await first.getAttribute('data-key');
    await first.getByRole('checkbox').check();
    await ledger.insert(someFacts({ ...kinds[3], id: 'f_later', folder: '/in', path: 'later.mp4' }));
    for (const tell of listeners) tell({ type: 'file' });
    const link = tab.getByRole('link', { name: '1 new' });
    await link.waitFor();
    expect(await first.getAttribute('data-key')).toBe(before);
    expect(await first.getByRole('checkbox').isChecked()).toBe(true);
    await link.click();
    await tab.locator('tr[data-key=f_later]').waitFor();
  });

  test('the slash key goes to the search, and the search to an address', async () => {
    const tab = await enter('/files');
    await tab.keyboard.press('/');
    await tab.keyboard.type('clip 117');
    await tab.keyboard.press('Enter');
    await tab.waitForURL(/q=clip\+117/);
    expect(await tab.locator('tbody tr').count()).toBe(1);
  });

  test('without scripts, many are chosen by ticks and confirmed on a page of their own', async () => {
    const tab = await enter('/files?state=failed', { javaScriptEnabled: false });
    await tab.getByRole('checkbox').nth(1).check();
    await tab.getByRole('checkbox').nth(2).check();
    await tab.getByRole('button', { name: 'Retry…' }).click();
    await tab.getByText('2 files, at most 6 requests').waitFor();
    expect(await tab.getByRole('button', { name: 'Retry: 2 files' }).count()).toBe(1);
  });

  test('one tick selects all files of the page, and one takes them all back', async () => {
    const tab = await enter('/files?state=failed');
    const ticked = (): Promise<number> => tab.locator('input[name=id]:checked').count();
    await tab.getByRole('checkbox', { name: 'Select all on this page' }).check();
    expect(await ticked()).toBe(await tab.locator('input[name=id]').count());
    await tab.getByRole('checkbox', { name: 'Select all on this page' }).uncheck();
    expect(await ticked()).toBe(0);
  });

  test('by the keyboard alone, all files of the page are selected above the list, and their cost is shown', async () => {
    const tab = await enter('/files?state=failed');
    const rows = await tab.locator('input[name=id]').count();
    await pressAt(tab, tab.getByRole('checkbox', { name: 'Select all on this page' }), 'Space');
    await pressAt(tab, tab.getByRole('button', { name: 'Retry…' }), 'Enter');
    await tab.getByRole('heading', { name: `Retry: ${rows} files` }).waitFor();
  });

  test('by touch on a phone, the commands are above the first file, and reach all that match', async () => {
    const tab = await enter('/files?state=failed', { viewport: { width: 360, height: 740 }, hasTouch: true });
    const button = tab.getByRole('button', { name: 'Ignore…' });
    const first = tab.locator('input[name=id]').first();
    const [bar, row] = [await button.boundingBox(), await first.boundingBox()];
    expect(bar?.y).toBeLessThan(row?.y ?? 0);
    await tab.getByRole('radio', { name: /^All \d+ files that match$/ }).tap();
    await button.tap();
    await tab.waitForURL(/which=all/);
    await tab.getByRole('heading', { name: /^Ignore: \d+ files$/ }).waitFor();
    expect(complaintsOf(tab)).toEqual([]);
  });

  test('an unknown file is a page that says so', async () => {
    const tab = await enter('/files/f_none');
    await tab.getByText('No file has this id.').waitFor();
  });
});
