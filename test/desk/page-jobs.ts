import { rm } from 'node:fs/promises';
import { isCreate, refusal } from '../e2e/answers.ts';
import { openStation } from '../status/page/acting-station.ts';
import { startServer } from '../support/server.ts';
import type { Hand } from './hand.ts';
import { numbers } from './step.ts';

type Station = Awaited<ReturnType<typeof openStation>>;

/** The page of a desk, and what happens there. */
export interface PageDesk extends AsyncDisposable {
  readonly station: Station;
  /** Drops files that reach this state. */
  drop(names: readonly string[], state: string): Promise<void>;
  /** From here on the service refuses new videos, or takes them again. */
  refuse(isRefusing: boolean): void;
}

export async function openPageDesk(): Promise<PageDesk> {
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(
    await startServer((request, response) => void request.resume().on('end', () => response.end())),
  );
  let isRefusing = false;
  const station = stack.use(
    await openStation(
      {
        meddle: (request, response) => isRefusing && isCreate(request) && refusal(response, 422, 'invalid_request'),
      },
      { notify: [{ name: 'desk', type: 'webhook', url: receiver.origin }] },
    ),
  );
  const owned = stack.move();
  return {
    station,
    drop: async (names, state) => {
      for (const name of names) await station.drop(name);
      for (const name of names) await station.reaches(name, state);
    },
    refuse: (is) => {
      isRefusing = is;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A daily job, done on the page: docs/desk.md. */
export interface PageJob {
  readonly job: string;
  /** Where it begins. */
  readonly view: string;
  readonly address: string;
  readonly presses: number;
  /** What happened before. */
  prepare(desk: PageDesk): Promise<void>;
  does(hand: Hand, desk: PageDesk): Promise<void>;
  /** Resolves when it is done. */
  sees(hand: Hand, desk: PageDesk): Promise<unknown>;
}

/** In this order, at one desk. */
export const pageJobs: readonly PageJob[] = [
  {
    job: "Find yesterday's file",
    view: 'Files',
    address: '/files',
    presses: 1,
    prepare: ({ drop }) => drop(['evening.mpg', ...numbers(12).map((n) => `match-${n}.mpg`)], 'done'),
    does: async ({ tab, type, press }) => {
      await type(tab.getByRole('searchbox'), 'evening');
      await press(tab.getByRole('button', { name: 'Search' }));
    },
    sees: ({ tab }) => tab.getByRole('link', { name: 'evening.mpg' }).waitFor(),
  },
  {
    job: 'Why was it late',
    view: 'Files',
    address: '/files?q=evening',
    presses: 1,
    prepare: async () => undefined,
    does: ({ tab, press }) => press(tab.getByRole('link', { name: 'evening.mpg' })),
    sees: ({ tab }) => tab.getByText('waiting for a record').first().waitFor(),
  },
  {
    job: 'Retry 40 failed files',
    view: 'Overview',
    address: '/',
    presses: 2,
    prepare: async ({ drop, refuse }) => {
      refuse(true);
      await drop(
        numbers(40).map((n) => `cup-${n}.mpg`),
        'failed',
      );
      refuse(false);
    },
    does: async ({ tab, press }) => {
      await press(tab.getByRole('link', { name: 'Retry all 40…' }));
      await press(tab.getByRole('button', { name: 'Retry: 40 files' }));
    },
    sees: ({ tab }, { station }) =>
      Promise.all([
        tab.getByText('40 files will be retried at once.').waitFor(),
        // The next job lets the service refuse uploads.
        ...numbers(40).map((n) => station.reaches(`cup-${n}.mpg`, 'done')),
      ]),
  },
  {
    job: 'Ignore 60 files that are no videos',
    view: 'Overview',
    address: '/',
    presses: 2,
    prepare: async ({ drop, refuse }) => {
      refuse(true);
      await drop(
        numbers(60).map((n) => `notes-${n}.mpg`),
        'failed',
      );
      refuse(false);
    },
    does: async ({ tab, press }) => {
      await press(tab.getByRole('link', { name: 'Ignore all 60…' }));
      await press(tab.getByRole('button', { name: 'Ignore: 60 files' }));
    },
    sees: ({ tab }, { station }) =>
      Promise.all([tab.getByText('60 files ignored.').waitFor(), station.reaches('notes-60.mpg', 'skipped')]),
  },
  {
    job: 'Publish a feed now',
    view: 'Overview',
    address: '/',
    presses: 2,
    prepare: async () => undefined,
    does: async ({ tab, press }) => {
      await press(tab.getByText('Publish… feed_news'));
      await press(tab.getByRole('button', { name: 'Publish now' }));
    },
    sees: ({ tab }) => tab.getByText('Publish… feed_news').waitFor(),
  },
  {
    job: 'Pause until 18:00',
    view: 'Folders',
    address: '/folders',
    presses: 1,
    prepare: async () => undefined,
    does: async ({ tab, type, press }) => {
      await type(tab.getByLabel('until'), '18:00');
      await press(tab.getByRole('button', { name: /^Pause/ }));
    },
    sees: async ({ tab }, { station }) => {
      await tab.getByText(/paused by the status page since .* until .*18:00/).waitFor();
      for (const { folder } of station.daemon.pauses.list()) await station.daemon.pauses.end(folder, 'the test');
    },
  },
  {
    job: 'Resume a frozen folder',
    view: 'Folders',
    address: '/folders',
    presses: 2,
    prepare: async ({ station }) => {
      for (const name of [...numbers(40).map((n) => `cup-${n}.mpg`), ...numbers(60).map((n) => `notes-${n}.mpg`)])
        await rm(`${station.inbox}/${name}`);
      await station.daemon.folders.rescan();
    },
    does: async ({ tab, press }) => {
      await press(tab.getByText('Resume…'));
      await press(tab.getByRole('button', { name: 'Resume as stated' }));
    },
    sees: ({ tab }) => tab.getByText('watching', { exact: true }).waitFor(),
  },
  {
    job: 'Test the notifications',
    view: 'Configuration',
    address: '/configuration',
    presses: 1,
    prepare: async () => undefined,
    does: ({ tab, press }) => press(tab.getByRole('button', { name: 'Send a test to desk' })),
    sees: ({ tab }) => tab.getByText(/answered 200/).waitFor(),
  },
  {
    job: 'Find what is gone or changed on the service, and what may be deleted here',
    view: 'Audit',
    address: '/audit',
    presses: 1,
    prepare: async () => undefined,
    does: ({ tab, press }) => press(tab.getByRole('button', { name: 'Run a full audit' })),
    sees: ({ tab }) => tab.getByText(/^Audit (?:by|of) /).waitFor(),
  },
];
