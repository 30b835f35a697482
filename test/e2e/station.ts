import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { callDaemon } from '../../src/daemon/control/client.ts';
import type { RetryResult } from '../../src/daemon/commands/retry.ts';
import type { FileView } from '../../src/view/files/file-view.ts';
import type { FilesView } from '../../src/view/files/files-view.ts';
import type { ShowView } from '../../src/view/files/show-view.ts';
import type { StatusView } from '../../src/view/picture/documents.ts';
import { makeScratch, startDropcast } from './dropcast-process.ts';
import { inThisScope } from '../support/child-processes.ts';
import { startServer, type RunningServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { DropcastProcess, Scratch } from './dropcast-process.ts';
import { startVideoHost } from './video-host.ts';
import type { HostOptions, VideoHost } from './video-host.ts';
import type { Settings } from '../support/configuration.ts';
import { answer } from './answers.ts';

export { answer, isCreate, loseAnswer, refusal } from './answers.ts';

/** A line of failures.jsonl. */
export interface FailureLine {
  readonly v: 1;
  readonly file: string;
  readonly class: string;
  readonly status: number | null;
  readonly code: string;
  readonly message: string;
  readonly attempt: number;
  readonly next: string;
}

/** What goes wrong at present; null lets everything through. A fault that returns true has answered or cut the request. */
export interface Faults {
  api: ((request: IncomingMessage, response: ServerResponse, body: Buffer) => boolean | Promise<boolean>) | null;
  upload: ((request: IncomingMessage, response: ServerResponse, id: string) => boolean | Promise<boolean>) | null;
}

/** A running daemon with its folders and the judge it talks to. */
export interface Station extends AsyncDisposable {
  readonly host: VideoHost;
  readonly scratch: Scratch;
  readonly faults: Faults;
  daemon(): DropcastProcess;
  /** Starts it (again) and waits until it is ready. */
  start(): Promise<DropcastProcess>;
  /** Writes a file into the inbox and returns its absolute path. Bytes of no known container, random by default. */
  drop(path: string, content?: Buffer | string): Promise<string>;
  files(): Promise<FilesView>;
  file(path: string): Promise<FileView | null>;
  show(path: string): Promise<ShowView>;
  status(): Promise<StatusView>;
  /** Waits until the newest file at the path is in this state. */
  reaches(path: string, state: string): Promise<FileView>;
  retry(path: string): Promise<void>;
  /** `retry --all`, which also asks the service again at once. */
  retryAll(): Promise<void>;
  /** The lines of failures.jsonl about a file, or about any of some, once there are so many: a line follows its change of state. */
  failures(path: string | readonly string[], least?: number): Promise<readonly FailureLine[]>;
  /** Videos of this title, oldest first. */
  videos(title: string): ReturnType<typeof videosOf>;
}

export interface StationOptions {
  readonly host?: HostOptions;
  /** Keys of the configuration instead of {@link usualSettings}. */
  readonly settings?: Settings;
  readonly folders?: Settings['folders'];
  readonly env?: Readonly<Record<string, string>>;
  /** Where its page listens; it has none by default. */
  readonly page?: string;
  /** User that the daemon runs as; only root may choose. */
  readonly uid?: number;
  /** False: `start()` is the test's own first step. */
  readonly isStarted?: boolean;
}

const usualSettings: Settings = {
  retry: { attempts: 4, first: '100ms', max: '400ms' },
  uploads: { concurrency: 4, stall_timeout: '2s' },
};

const usualFolder: NonNullable<Settings['folders']>[number] = {
  rescan: '2s',
  rules: [
    { match: 'news/**', channel: 'ch_news', publish: ['feed_news'] },
    { match: 'nofeed/**', channel: 'ch_news', publish: ['feed_missing'] },
    { match: '**', channel: 'ch_main' },
  ],
};

export async function startStation(options: StationOptions = {}): Promise<Station> {
  await using stack = new AsyncDisposableStack();
  // A daemon started again in a later test of the group still belongs to the group.
  const inScope = inThisScope();
  const faults: Faults = { api: null, upload: null };
  const host = stack.use(
    await startVideoHost({
      processingMs: () => 0, // The first look finds it ready; the next one comes a second later.
      ...options.host,
      meddle: (request, response, body) => faults.api?.(request, response, body) ?? false,
      meddleUpload: (request, response, id) => faults.upload?.(request, response, id) ?? false,
    }),
  );
  const scratch = stack.use(await makeScratch(stationSettings(host, options)));
  await mkdir(scratch.file('inbox'));
  let daemon: DropcastProcess | null = null;
  stack.defer(async () => daemon?.[Symbol.asyncDispose]());

  const socket = scratch.file('state', 'dropcast.sock');
  const ask = <T>(path: string): Promise<T> => callDaemon<T>(socket, 'GET', path);
  const absolute = (path: string): string => (path.startsWith('/') ? path : scratch.file('inbox', path));
  const found = async (path: string): Promise<readonly ShowView[]> =>
    (await ask<{ found: readonly ShowView[] }>(`/file?name=${encodeURIComponent(absolute(path))}`)).found;
  const file = async (path: string): Promise<FileView | null> => (await found(path))[0]?.file ?? null;

  const linesAbout = async (paths: readonly string[]): Promise<readonly FailureLine[]> => {
    const text = await readFile(scratch.file('state', 'failures.jsonl'), 'utf8').catch(() => '');
    const lines = text.split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as FailureLine).filter((line) => paths.includes(line.file));
  };

  const station: Omit<Station, typeof Symbol.asyncDispose> = {
    host,
    scratch,
    faults,
    daemon: () => {
      if (daemon === null) throw new Error('the daemon was not started');
      return daemon;
    },
    start: async () => {
      const started = inScope(() => startDropcast(['run', '--config', scratch.config], options.env, options.uid));
      daemon = started;
      const { child, output } = started;
      await until(`the daemon is ready: ${output()}`, () => output().includes('Ready') || child.exitCode !== null);
      if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}: ${output()}`);
      return started;
    },
    drop: async (path, content = randomBytes(2_000)) => {
      const target = absolute(path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
      return target;
    },
    files: () => ask<FilesView>('/files?limit=1000'),
    file,
    show: async (path) => {
      const [view] = await found(path);
      if (view === undefined) throw new Error(`no file is known at ${path}`);
      return view;
    },
    status: () => ask<StatusView>('/status'),
    reaches: async (path, state) => {
      let last: FileView | null = null;
      const look = async (): Promise<FileView | null> => {
        last = await file(path);
        return last?.state === state ? last : null;
      };
      return until(`${path} is ${state}`, look, { seen: () => last });
    },
    retry: async (path) => {
      const result = await callDaemon<RetryResult>(socket, 'POST', '/retry', { names: [absolute(path)] });
      expect(result.refused).toEqual([]);
    },
    retryAll: async () => {
      await callDaemon<RetryResult>(socket, 'POST', '/retry', {
        names: [],
        selection: { states: ['failed', 'held', 'retrying'] },
      });
    },
    failures: async (path, least = 1) => {
      const paths = [path].flat();
      return until(`${least} failures of ${paths.join(', ')} are written down`, async () => {
        const lines = await linesAbout(paths.map(absolute));
        return lines.length >= least && lines;
      });
    },
    videos: (title) => videosOf(host, title),
  };
  if (options.isStarted !== false) await station.start();
  const parts = stack.move();
  return { ...station, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

export function stationSettings(
  host: Pick<VideoHost, 'baseUrl' | 'key'>,
  { settings = usualSettings, folders = [usualFolder], page = 'off' }: StationOptions = {},
): Settings {
  return {
    service: { base_url: host.baseUrl, api_key: host.key, requests_per_hour: 1_000_000 },
    publish: { quiet: '0s', at_most: '5s' },
    folders: folders.map((folder) => ({ settle: '300ms', ...folder })),
    status: { listen: page },
    log: { level: 'debug' },
    ...settings,
  };
}

function videosOf(host: VideoHost, title: string) {
  return [...host.videos.values()].filter((video) => video.title === title);
}

/** What must hold for a file whatever happened: one complete body on the service, no more, and no key at the upload host. */
export function expectUploadedOnce(station: Station, title: string): void {
  const bodies = station.videos(title).flatMap((video) => video.bodies);
  expect(bodies, `complete bodies of ${title}`).toHaveLength(1);
  expect(station.host.leaks).toEqual([]);
}

/** A server of another origin that must never be asked anything. */
export async function startBystander(): Promise<RunningServer & { readonly requests: string[] }> {
  const requests: string[] = [];
  const server = await startServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume();
    answer(response, 200, {});
  });
  return { ...server, requests };
}
