import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './bench.ts';
import { output, start, until } from './child.ts';
import type { Running } from './child.ts';
import { longest, tellingPauses } from './pauses/pauses.ts';
import type { Longest } from './pauses/pauses.ts';

/** A daemon's configuration and state in a temporary directory, with an inbox. */
export interface WatchedFolder extends AsyncDisposable {
  readonly inbox: string;
  /** Starts `dropcast run`. */
  run(): Running;
  /** The longest pause and turn of the daemon's event loop since this was asked before. */
  longest(running: Running): Promise<Longest>;
  /** What `dropcast status --json` shows; null while the control socket does not answer. */
  status(): Promise<FolderReport | null>;
}

/** The part of a status that the benchmarks read. */
export interface FolderReport {
  readonly settling: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly requests: { readonly total: number } | null;
  readonly folders: readonly { readonly state: string; readonly paths: { readonly seen: number } }[];
}

/** What differs from the usual one. */
export interface Options {
  /** Of an `instant-service.ts`. Absent: nothing is there, so files wait in the ledger. */
  readonly service?: string;
  /** Port of the status page. */
  readonly page?: number;
}

/** @param known files that are there and done already, in a hundredth as many folders */
export async function watchedFolder(build: Build, known: number, options: Options = {}): Promise<WatchedFolder> {
  const directory = await mkdtemp(join(tmpdir(), 'dropcast-known-'));
  const folders = Math.max(1, Math.round(known / 100));
  const make = join(import.meta.dirname, 'known-ledger.ts');
  await output(build.plainNode, [make, build.root, directory, String(known), String(folders)]);
  const config = join(directory, 'dropcast.yaml');
  await writeFile(config, configOf(directory, options), { mode: 0o600 });
  const socket = join(directory, 'control.sock');
  const pauses = join(directory, 'pauses');
  return {
    inbox: join(directory, 'inbox'),
    run: () => start(build.node, [build.program, 'run', '--config', config], { env: tellingPauses(pauses) }),
    longest: (running) => longest(running, pauses),
    status: () => ask(socket).catch(() => null),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

function configOf(directory: string, { service = 'http://127.0.0.1:9/v1', page }: Options): string {
  const listen = page === undefined ? '' : `listen: "127.0.0.1:${page}", `;
  return `
service: { base_url: "${service}", api_key: instant, requests_per_hour: 1000000 }
state_dir: ${directory}/state
poll: { interval: 1s }
status: { ${listen}socket: ${directory}/control.sock }
folders:
  - path: ${directory}/inbox
    settle: 1s
    rules: [{ match: "**", channel: ch_main }]
`;
}

/** A service that answers at once, in a process of its own. */
export async function instantService(): Promise<{ readonly baseUrl: string } & Disposable> {
  const child = fork(join(import.meta.dirname, 'growth/instant-service.ts'));
  const [{ baseUrl }] = (await once(child, 'message')) as [{ baseUrl: string }];
  return { baseUrl, [Symbol.dispose]: () => void child.kill() };
}

/** All files were seen, and the daemon has nothing to do: less than a fiftieth of a core for two seconds. */
export async function caughtUp(folder: WatchedFolder, running: Running): Promise<void> {
  // Right after the start no folder is there yet.
  await until(async () => {
    const folders = (await folder.status())?.folders ?? [];
    return folders.length > 0 && folders.every(({ state }) => state === 'watching');
  });
  await until(async () => {
    const before = await running.cpuSeconds();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return (await running.cpuSeconds()) - before < 0.04;
  });
}

function ask(socketPath: string): Promise<FolderReport> {
  const { promise, resolve, reject } = Promise.withResolvers<FolderReport>();
  request({ socketPath, path: '/status' }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as FolderReport));
    response.on('error', reject);
  })
    .on('error', reject)
    .end();
  return promise;
}
