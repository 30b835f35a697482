import type { Hand } from './hand.ts';

/** A daily job, done on the page: docs/desk.md. */
export interface PageDeed {
  /** Where it begins. */
  readonly view: string;
  readonly address: string;
  readonly presses: number;
  /** Resolves when the page shows the result. */
  does(hand: Hand): Promise<unknown>;
}

/** The deeds by the names of their jobs. The page does no others. */
export const pageDeeds: Readonly<Record<string, PageDeed>> = {
  'Publish a feed now': {
    view: 'Overview',
    address: '/',
    presses: 2,
    does: async ({ tab, press }) => {
      await press(tab.getByText('Publish… feed_news'));
      await press(tab.getByRole('button', { name: 'Publish now' }));
      await tab.getByText('Publish… feed_news').waitFor();
    },
  },
  'Pause until 18:00': {
    view: 'Folders',
    address: '/folders',
    presses: 1,
    does: async ({ tab, type, press }) => {
      // That of the archive in the three days.
      await type(tab.getByLabel('until').last(), '18:00');
      await press(tab.getByRole('button', { name: /^Pause/ }).last());
      await tab.getByText(/paused by the status page since .* until .*18:00/).waitFor();
    },
  },
  "Find yesterday's file": {
    view: 'Files',
    address: '/files',
    presses: 1,
    does: async ({ tab, type, press }) => {
      await type(tab.getByRole('searchbox'), 'morning');
      await press(tab.getByRole('button', { name: 'Search' }));
      await tab.getByRole('link', { name: /^morning\./ }).waitFor();
    },
  },
  'Why was it late': {
    view: 'Files',
    address: '/files?q=evening',
    presses: 1,
    does: async ({ tab, press }) => {
      await press(tab.getByRole('link', { name: /^evening\./ }));
      await tab.getByText('waiting for a record').first().waitFor();
    },
  },
  'Resume a frozen folder': {
    view: 'Folders',
    address: '/folders',
    presses: 2,
    does: async ({ tab, press }) => {
      await press(tab.getByText('Resume…'));
      await press(tab.getByRole('button', { name: 'Resume as stated' }));
      await tab.getByText('frozen', { exact: true }).waitFor({ state: 'detached' });
    },
  },
  'Retry 40 failed files': {
    view: 'Overview',
    address: '/',
    presses: 2,
    does: async ({ tab, press }) => {
      await press(tab.getByRole('link', { name: 'Retry all 40…' }));
      await press(tab.getByRole('button', { name: 'Retry: 40 files' }));
      await tab.getByText('40 files will be retried at once.').waitFor();
    },
  },
  'Ignore 60 files that are no videos': {
    view: 'Overview',
    address: '/',
    presses: 2,
    does: async ({ tab, press }) => {
      await press(tab.getByRole('link', { name: 'Ignore all 60…' }));
      await press(tab.getByRole('button', { name: 'Ignore: 60 files' }));
      await tab.getByText('60 files ignored.').waitFor();
    },
  },
  'Test the notifications': {
    view: 'Configuration',
    address: '/configuration',
    presses: 1,
    does: async ({ tab, press }) => {
      await press(tab.getByRole('button', { name: /^Send a test to/ }).first());
      await tab.getByText(/answered 200/).waitFor();
    },
  },
  'Find what is gone or changed on the service, and what may be deleted here': {
    view: 'Audit',
    address: '/audit',
    presses: 1,
    does: async ({ tab, press }) => {
      await press(tab.getByRole('button', { name: 'Run a full audit' }));
      await tab.getByText(/^Audit (?:by|of) /).waitFor();
    },
  },
};
