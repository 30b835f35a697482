import { chromium, type BrowserContextOptions, type Page } from 'playwright-core';
import { findChromium } from '../support/needs.ts';

/** A real Chromium for the tests of one file. Each context is another person, with its own cookies and storage. */
export interface TestBrowser extends AsyncDisposable {
  /** A page in a context of its own. Its complaints are in `complaintsOf`. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /** For the end of each test: a player that goes on in a page left open slows down all tests after it. */
  closePages(): Promise<void>;
}

export async function openBrowser(): Promise<TestBrowser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('no Chromium; set $CHROMIUM');
  // --no-sandbox: tests run as root in containers, where Chromium refuses to start otherwise; they open our own pages alone.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--mute-audio'];
  const browser = await chromium.launch({ executablePath, args });
  return {
    newPage: async (options = {}) => {
      const context = await browser.newContext({ viewport: { width: 960, height: 540 }, ...options });
      const page = await context.newPage();
      listenForComplaints(page);
      return page;
    },
    closePages: async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

const complaints = new WeakMap<Page, string[]>();

/** Script errors, violations of the content security policy, failed loads, and dialogs, which no page here opens. */
export function complaintsOf(page: Page): readonly string[] {
  return complaints.get(page) ?? [];
}

function listenForComplaints(page: Page): void {
  const heard: string[] = [];
  complaints.set(page, heard);
  page.on('pageerror', (error) => heard.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') heard.push(message.text());
  });
  page.on('dialog', (dialog) => {
    heard.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
}
