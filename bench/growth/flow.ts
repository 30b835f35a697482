import { fork, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callDaemon } from '../../src/daemon/control/client.ts';
import type { Build } from '../bench.ts';
import { start, until, usageOf } from '../child.ts';

export interface Flow {
  readonly cpuMsPerFile: number;
  readonly filesPerSecond: number;
  readonly peakMb: number;
}

type Counts = Readonly<Record<string, number>>;

/** Sends so many small files through a real daemon, to a service that answers at once. */
export async function wholePipeline(build: Build, files: number): Promise<Flow> {
  await using station = await startStation(build, files);
  return await station.until(({ done = 0 }) => done === files, { published: files });
}

/** CPU of `dropcast once` for each file, its progress included. */
export async function onceOver(build: Build, files: number): Promise<number> {
  await using place = await placeWith(files);
  const { cpuMs } = await usageOf(build.plainNode, [build.program, 'once', '--config', place.config]);
  return cpuMs / files;
}

/** The same as far as the ledger: the service refuses the key, so nothing is sent. */
export async function intakeOnly(build: Build, files: number): Promise<Flow> {
  await using station = await startStation(build, files, { isRefused: true });
  return await station.until((counts) => Object.values(counts).reduce((sum, count) => sum + count, 0) === files);
}

/** How often each file waits for the disk on its whole way. Null where strace is not installed. */
export async function syncsPerFile(build: Build, files: number): Promise<number | null> {
  if (spawnSync('strace', ['-V']).status !== 0) return null;
  await using scratch = await scratchFolder();
  const report = join(scratch.path, 'syncs');
  {
    await using station = await startStation(build, files, { syncReport: report });
    await station.until(({ done = 0 }) => done === files, { published: files });
  }
  const calls = readFileSync(report, 'utf8').matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+) .*sync$/gm);
  return [...calls].reduce((sum, [, count]) => sum + Number(count), 0) / files;
}

interface Station extends AsyncDisposable {
  /**
   * What it cost from its start until the counts of the daemon are so. Each question costs it about 15 ms, so where the
   * service knows when nearly all is done, the daemon is not asked before.
   */
  until(isSo: (counts: Counts) => boolean, first?: { readonly published: number }): Promise<Flow>;
}

interface StationOptions {
  readonly isRefused?: boolean;
  /** Where strace writes how often the daemon waited for the disk. */
  readonly syncReport?: string;
}

interface Place extends AsyncDisposable {
  readonly path: string;
  readonly config: string;
  readonly service: ChildProcess;
}

/** As many small files as that in a folder, and the service, which may refuse the key. */
async function placeWith(files: number, isRefused = false): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await scratchFolder());
  makeFiles(join(path, 'inbox'), files);
  const service = fork(join(import.meta.dirname, 'instant-service.ts'));
  stack.defer(() => void service.kill());
  const { baseUrl } = await message<{ baseUrl: string }>(service);
  const config = join(path, 'dropcast.yaml');
  writeFileSync(config, configText(path, isRefused ? `${baseUrl}/refused` : baseUrl), { mode: 0o600 });
  const parts = stack.move();
  return { path, config, service, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** A daemon that begins with as many files. */
async function startStation(build: Build, files: number, options: StationOptions = {}): Promise<Station> {
  await using stack = new AsyncDisposableStack();
  const { path, config, service } = stack.use(await placeWith(files, options.isRefused));
  const tracer = options.syncReport === undefined ? [] : tracing(options.syncReport);
  const [command, ...args] = [...tracer, build.node, build.program, 'run', '--config', config];
  const startedAt = performance.now();
  const daemon = stack.use(start(command, args));
  const parts = stack.move();
  return {
    until: async (isSo, first) => {
      const published = first?.published ?? 0;
      await until(async () => (await publishedBy(service)) >= published, 200);
      await until(async () => isSo(await countsOf(join(path, 'dropcast.sock'))), 500);
      return {
        cpuMsPerFile: ((await daemon.cpuSeconds()) * 1_000) / files,
        filesPerSecond: (files / (performance.now() - startedAt)) * 1_000,
        peakMb: (await daemon.memory()).peakMb,
      };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** The daemon is not told that its parent is strace: it gets the signal that strace passes on. */
function tracing(report: string): readonly string[] {
  return ['strace', '-f', '-c', '-I', '4', '-D', '-o', report, '-e', 'trace=fsync,fdatasync'];
}

/**
 * Sizes that differ, as those of real files: equal ones would be compared by their content. Nothing is stored for them.
 */
function makeFiles(inbox: string, files: number): void {
  for (let n = 0; n < files; n += 1) {
    const folder = join(inbox, `${Math.floor(n / 1_000)}`);
    if (n % 1_000 === 0) mkdirSync(folder, { recursive: true });
    const path = join(folder, `clip ${n}.mp4`);
    writeFileSync(path, '');
    // Of the same distribution, however many there are.
    truncateSync(path, 500 + ((n * 7_919) % 100_003));
  }
}

function configText(path: string, baseUrl: string): string {
  return `
service: { base_url: "${baseUrl}", api_key: instant, requests_per_hour: 1000000 }
state_dir: ${path}/state
poll: { interval: 1s }
publish: { quiet: 1s, at_most: 5s }
uploads: { concurrency: 8 }
folders:
  - path: ${path}/inbox
    settle: 300ms
    rules: [{ match: "**", channel: ch_main, publish: [feed_news] }]
status: { listen: off, socket: "${path}/dropcast.sock" }
`;
}

function message<T>(child: ChildProcess): Promise<T> {
  return once(child, 'message').then(([value]) => value as T);
}

async function publishedBy(service: ChildProcess): Promise<number> {
  service.send('report');
  return (await message<{ published: number }>(service)).published;
}

/** None while the daemon does not listen yet. */
async function countsOf(socketPath: string): Promise<Counts> {
  const status = callDaemon<{ readonly counts: Counts }>(socketPath, 'GET', '/status');
  return status.then(
    ({ counts }) => counts,
    () => ({}),
  );
}

async function scratchFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'dropcast-growth-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
