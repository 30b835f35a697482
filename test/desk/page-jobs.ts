import { rm } from 'node:fs/promises';
import { isCreate, refusal } from '../e2e/answers.ts';
import { openStation } from '../status/page/acting-station.ts';
import { startServer } from '../support/server.ts';
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

/** The state that the deed of a job (page-deeds.ts) needs, and the state that the next one needs. */
interface PageJob {
  readonly job: string;
  /** What happened before. */
  prepare?(desk: PageDesk): Promise<void>;
  /** Resolves when the next job can begin. */
  after?(desk: PageDesk): Promise<unknown>;
}

/** In this order, at one desk. */
export const pageJobs: readonly PageJob[] = [
  {
    job: "Find yesterday's file",
    prepare: ({ drop }) => drop(['morning.mpg', 'evening.mpg', ...numbers(12).map((n) => `match-${n}.mpg`)], 'done'),
  },
  { job: 'Why was it late' },
  {
    job: 'Retry 40 failed files',
    prepare: (desk) => refused(desk, cups),
    // The next job lets the service refuse uploads.
    after: ({ station }) => Promise.all(cups.map((name) => station.reaches(name, 'done'))),
  },
  {
    job: 'Ignore 60 files that are no videos',
    prepare: (desk) => refused(desk, notes),
    after: ({ station }) => station.reaches('notes-60.mpg', 'skipped'),
  },
  { job: 'Publish a feed now' },
  {
    job: 'Pause until 18:00',
    after: async ({ station: { daemon } }) => {
      for (const { folder } of daemon.pauses.list()) await daemon.pauses.end(folder, 'the test');
    },
  },
  {
    job: 'Resume a frozen folder',
    prepare: async ({ station }) => {
      for (const name of [...cups, ...notes]) await rm(`${station.inbox}/${name}`);
      await station.daemon.folders.rescan();
    },
  },
  { job: 'Test the notifications' },
  { job: 'Find what is gone or changed on the service, and what may be deleted here' },
];

const cups = numbers(40).map((n) => `cup-${n}.mpg`);
const notes = numbers(60).map((n) => `notes-${n}.mpg`);

async function refused({ drop, refuse }: PageDesk, names: readonly string[]): Promise<void> {
  refuse(true);
  await drop(names, 'failed');
  refuse(false);
}
