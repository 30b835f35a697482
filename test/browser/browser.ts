import { accessSync, constants } from 'node:fs';
import { chromium, type BrowserContextOptions, type Page } from 'playwright-core';
import { describe } from 'vitest';

/** A real Chromium for the tests of one file. Each context is another person, with its own cookies and storage. */
export interface TestBrowser extends AsyncDisposable {
  /** A page in a context of its own. Its complaints are in `complaintsOf`. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /** For the end of each test: a player that goes on in a page left open slows down all tests after it. */
  closePages(): Promise<void>;
}

/**
 * Where Chromium is: `$CHROMIUM`, else where distributions put it. Undefined when there is none. In continuous integration
 * that is an error: a test that did not run must not look like one that passed.
 */
export function findChromium(environment = process.env, places: readonly string[] = PLACES): string | undefined {
  const found = environment['CHROMIUM'] ?? places.find(isProgram);
  if (found === undefined && environment['CI']) throw new Error(`no Chromium at ${places.join(', ')}; set $CHROMIUM`);
  return found;
}

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `describe` for tests in a browser: reported as skipped where there is no Chromium, except in continuous integration. */
export const describeInBrowser = describe.skipIf(findChromium() === undefined);

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
